// Every question to every kind of value, and to none.
#include "flambeau/value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "support/checkpoint_builder.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

using ::testing::ElementsAre;

/// One of everything; where a row stands, it is looked for by name.
const Checkpoint& everything() {
  static const Checkpoint checkpoint = [] {
    const py::Code plain = py::build(py::call("mine.Plain", {py::integer(1)}),
                                     py::dict({{py::text("x"), py::integer(5)}}));
    const py::Code module = py::with_items(
        py::with_items(py::make("mine.Mixed", {py::text("arg")}), {py::integer(8), py::integer(9)}),
        {{py::text("k"), py::text("v")}, {py::integer(3), py::text("three")}});
    CheckpointBuilder file(py::dict({
        {py::text("none"), py::none()},
        {py::text("boolean"), py::boolean(true)},
        {py::text("integer"), py::integer(-7)},
        {py::text("far"), py::integer(std::int64_t{1} << 40)},
        {py::text("huge"), py::big_integer(std::string("\0\0\0\0\0\0\0\0\1", 9))},
        {py::text("real"), py::real(2.5)},
        {py::text("complex"), py::call("__builtin__.complex", {py::real(1), py::integer(-2)})},
        {py::text("large complex"),
         py::call("builtins.complex",
                  {py::big_integer(std::string("\0\0\0\0\0\0\0\0\1", 9)), py::real(0)})},
        {py::text("string"), py::text("t\xc3\xa9xt")},
        {py::text("bytes"), py::bytes(std::string("\0\xff", 2))},
        {py::text("bytearray"), py::call("builtins.bytearray", {py::bytes("ab")})},
        {py::text("list"), py::list({py::integer(1), py::integer(2)})},
        {py::text("tuple"), py::tuple({py::text("a")})},
        {py::text("set"), py::call("__builtin__.set", {py::list({py::integer(1)})})},
        {py::text("frozenset"), py::call("__builtin__.frozenset", {py::list({py::integer(4)})})},
        {py::text("dict"),
         py::dict({{py::text("k"), py::integer(1)}, {py::integer(5), py::text("five")}})},
        {py::text("ordered_dict"), py::build(py::ordered_dict({{py::text("w"), py::integer(2)}}),
                                             py::dict({{py::text("_metadata"), py::text("m")}}))},
        {py::text("size"), py::call("torch.Size", {py::integers({2, 3})})},
        {py::text("global"), py::global("mine.function")},
        {py::text("dtype"), py::global("torch.bfloat16")},
        {py::text("device"), py::call("torch.device", {py::text("cuda"), py::integer(1)})},
        {py::text("layout"),
         py::call("torch.serialization._get_layout", {py::text("torch.sparse_coo")})},
        {py::text("tensor"), py::tensor()},
        {py::text("storage"), py::storage()},
        {py::text("object"), plain},
        {py::text("mixed"), module},
        {py::text("persistent"), py::persistent(py::text("somewhere"))},
    }));
    return file.storage("0", std::vector<float>{1, 2, 3, 4}).open();
  }();
  return checkpoint;
}

Value at(std::string_view name) { return everything().root()[name]; }

constexpr Kind kAll[] = {
    Kind::none,   Kind::boolean,      Kind::integer, Kind::real,   Kind::complex,   Kind::string,
    Kind::bytes,  Kind::bytearray,    Kind::list,    Kind::tuple,  Kind::set,       Kind::frozenset,
    Kind::dict,   Kind::ordered_dict, Kind::size,    Kind::global, Kind::dtype,     Kind::device,
    Kind::layout, Kind::tensor,       Kind::storage, Kind::object, Kind::persistent};

TEST(Value, KindsAreSpelledAsTheirEnumerators) {
  for (const Kind kind : kAll) EXPECT_EQ(at(to_string(kind)).kind(), kind) << to_string(kind);
  EXPECT_EQ(to_string(Kind::missing), "missing");
  EXPECT_EQ(to_string(Construction::reduce), "reduce");
  EXPECT_EQ(to_string(Construction::newobj), "newobj");
  EXPECT_EQ(to_string(Construction::newobj_ex), "newobj_ex");
}

TEST(Value, NoneOfAllQuestionsFitsTheNullValue) {
  const Value null;
  EXPECT_FALSE(null);
  EXPECT_EQ(null.kind(), Kind::missing);
  EXPECT_EQ(null, Value());
  EXPECT_FALSE(null.has_identity());
  EXPECT_FALSE(null.as_bool());
  EXPECT_FALSE(null.as_int());
  EXPECT_FALSE(null.as_double());
  EXPECT_FALSE(null.as_complex());
  EXPECT_FALSE(null.as_string());
  EXPECT_FALSE(null.as_bytes());
  EXPECT_FALSE(null.integer_text());
  EXPECT_FALSE(null.as_tensor());
  EXPECT_FALSE(null.as_dtype());
  EXPECT_FALSE(null.as_device());
  EXPECT_FALSE(null.as_layout());
  EXPECT_FALSE(null.as_storage());
  EXPECT_EQ(null.size(), 0u);
  EXPECT_FALSE(null[0]);
  EXPECT_FALSE(null["key"]);
  EXPECT_FALSE(null.attribute("name"));
  EXPECT_TRUE(null.items().empty());
  EXPECT_TRUE(null.elements().empty());
  EXPECT_EQ(null.global_name().second, "");
  EXPECT_EQ(null.type_name(), "");
  EXPECT_FALSE(null.callable());
  EXPECT_FALSE(null.args());
  EXPECT_FALSE(null.kwargs());
  EXPECT_FALSE(null.construction());
  EXPECT_FALSE(null.state());
  EXPECT_FALSE(null.persistent_id());
}

/// The kinds for which a question has an answer.
template <typename Question>
std::vector<Kind> answering(Question question) {
  std::vector<Kind> kinds;
  for (const Kind kind : kAll) {
    if (question(at(to_string(kind)))) kinds.push_back(kind);
  }
  return kinds;
}

TEST(Value, EachQuestionFitsItsKinds) {
  EXPECT_THAT(answering([](Value v) { return v.as_bool(); }), ElementsAre(Kind::boolean));
  EXPECT_THAT(answering([](Value v) { return v.as_int(); }), ElementsAre(Kind::integer));
  EXPECT_THAT(answering([](Value v) { return v.integer_text(); }), ElementsAre(Kind::integer));
  EXPECT_THAT(answering([](Value v) { return v.as_double(); }),
              ElementsAre(Kind::integer, Kind::real));
  EXPECT_THAT(answering([](Value v) { return v.as_complex(); }),
              ElementsAre(Kind::integer, Kind::real, Kind::complex));
  EXPECT_THAT(answering([](Value v) { return v.as_string(); }), ElementsAre(Kind::string));
  EXPECT_THAT(answering([](Value v) { return v.as_bytes(); }),
              ElementsAre(Kind::bytes, Kind::bytearray));
  EXPECT_THAT(answering([](Value v) { return v.as_tensor(); }), ElementsAre(Kind::tensor));
  EXPECT_THAT(answering([](Value v) { return v.as_dtype(); }), ElementsAre(Kind::dtype));
  EXPECT_THAT(answering([](Value v) { return v.as_device(); }), ElementsAre(Kind::device));
  EXPECT_THAT(answering([](Value v) { return v.as_layout(); }), ElementsAre(Kind::layout));
  EXPECT_THAT(answering([](Value v) { return v.as_storage(); }), ElementsAre(Kind::storage));
  EXPECT_THAT(answering([](Value v) { return v.construction(); }), ElementsAre(Kind::object));
  EXPECT_THAT(answering([](Value v) { return v.persistent_id(); }), ElementsAre(Kind::persistent));
  EXPECT_THAT(answering([](Value v) { return v.state(); }),
              ElementsAre(Kind::ordered_dict, Kind::object));
  EXPECT_THAT(answering([](Value v) { return v.size() > 0; }),
              ElementsAre(Kind::list, Kind::tuple, Kind::set, Kind::frozenset, Kind::dict,
                          Kind::ordered_dict, Kind::size));
}

TEST(Value, Identity) {
  EXPECT_THAT(answering([](Value v) { return !v.has_identity(); }),
              ElementsAre(Kind::none, Kind::boolean, Kind::integer, Kind::real, Kind::string,
                          Kind::global, Kind::dtype, Kind::device, Kind::layout));
  const Checkpoint checkpoint =
      open_value(py::list({py::put(0, py::list({})), py::get(0), py::list({})}));
  const Value root = checkpoint.root();
  EXPECT_EQ(root[0], root[1]);
  EXPECT_EQ(root[0].id(), root[1].id());
  EXPECT_FALSE(root[0] == root[2]);
}

TEST(Value, Numbers) {
  EXPECT_EQ(at("boolean").as_bool(), true);
  EXPECT_EQ(at("integer").as_int(), -7);
  EXPECT_EQ(at("integer").as_double(), -7.0);
  EXPECT_EQ(at("integer").integer_text(), "-7");
  EXPECT_EQ(at("far").as_int(), std::int64_t{1} << 40);
  EXPECT_EQ(at("far").as_complex(), std::complex<double>(1099511627776.0));
  EXPECT_EQ(at("huge").kind(), Kind::integer);
  EXPECT_FALSE(at("huge").as_int());
  EXPECT_FALSE(at("huge").as_double());
  EXPECT_EQ(at("huge").integer_text(), "18446744073709551616");
  EXPECT_EQ(at("real").as_double(), 2.5);
  EXPECT_EQ(at("complex").as_complex(), std::complex<double>(1, -2));
  EXPECT_EQ(at("large complex").as_complex(), std::complex<double>(0x1p64, 0));
}

TEST(Value, DigitsHaveALimit) {
  // 1,780 bytes have at most 4,287 digits, 1,800 may have more than 4,303.
  const auto digits = [](std::size_t size) {
    const py::Code number = "\x8b" + py::little(size, 4) + std::string(size - 1, '\xff') + '\x7f';
    const Checkpoint checkpoint = open_value(number);
    return checkpoint.root().integer_text().value_or("").size();
  };
  EXPECT_EQ(digits(1780), 4287u);
  EXPECT_EQ(code_of([&] { digits(1800); }), ErrorCode::limit);
}

TEST(Value, Texts) {
  EXPECT_EQ(at("string").as_string(), "t\xc3\xa9xt");
  EXPECT_EQ(as_text(*at("bytes").as_bytes()), std::string_view("\0\xff", 2));
  EXPECT_EQ(as_text(*at("bytearray").as_bytes()), "ab");
}

TEST(Value, BytesOfProtocol2) {
  const auto bytes = [](const std::vector<py::Code>& args) {
    const Checkpoint checkpoint = open_value(py::call("_codecs.encode", args));
    const auto content = checkpoint.root().as_bytes();
    return content ? std::string(as_text(*content)) : "none";
  };
  EXPECT_EQ(bytes({py::text("a\xc3\xa9\xc2\x80"), py::text("latin1")}), "a\xe9\x80");
  EXPECT_EQ(bytes({py::text("a"), py::text("latin-1")}), "a");
  EXPECT_EQ(bytes({py::text("\xc4\x80"), py::text("latin1")}), "none") << "U+0100 has no byte";
  EXPECT_EQ(bytes({py::text("a"), py::text("rot13")}), "none") << "no other codec is run";
  EXPECT_EQ(bytes({py::text("a")}), "none");
  EXPECT_EQ(bytes({py::integer(1), py::text("latin1")}), "none");
  const Checkpoint empty = open_value(
      py::list({py::call("__builtin__.bytes", {}), py::call("__builtin__.bytearray", {})}));
  EXPECT_EQ(empty.root()[0].kind(), Kind::bytes);
  EXPECT_TRUE(empty.root()[0].as_bytes()->empty());
  EXPECT_EQ(empty.root()[1].kind(), Kind::bytearray);
}

/// Calls that PyTorch would run and that stay data here: no size is ever believed.
TEST(Value, CallsOfOtherShapesStayObjects) {
  const py::Code calls[] = {
      py::call("__builtin__.bytearray", {py::integer(std::int64_t{1} << 40)}),
      py::call("__builtin__.bytearray", {py::text("\xc3\xa9")}),
      py::call("__builtin__.set", {py::integer(5)}),
      py::call("__builtin__.set", {py::list({}), py::list({})}),
      py::call("__builtin__.complex", {py::text("x")}),
      py::call("__builtin__.complex", {py::real(1)}),
      py::call("collections.OrderedDict", {py::integer(5)}),
      py::call("collections.OrderedDict", {py::list({py::list({py::text("k")})})}),
      py::call("collections.OrderedDict", {py::list({}), py::list({})}),
      py::call("torch.Size", {py::tuple({py::text("2")})}),
      py::call("torch.Size", {py::integer(2)}),
      py::call("torch.device", {py::integer(1)}),
      py::call("torch.device", {py::text("cuda"), py::text("1")}),
      py::call("torch.device", {}),
      py::call("torch.serialization._get_layout", {py::integer(1)}),
      py::build(py::call("__builtin__.set", {py::list({})}), py::dict({})),
      py::with_items(py::call("collections.OrderedDict", {}),
                     std::vector<py::Code>{py::integer(1)}),
      py::call("os.system", {py::text("true")}),
      py::call("collections.Counter", {py::dict({})}),
  };
  for (const py::Code& call : calls) {
    EXPECT_EQ(root_value(open_value(call)).kind(), Kind::object) << call;
  }
}

TEST(Value, SizesAndDevicesAreKeptAsTheyStand) {
  EXPECT_EQ(root_value(open_value(py::call("torch.Size", {py::integers({-1})}))).kind(),
            Kind::size);
  const py::Code far = py::call("torch.device", {py::text("nope:99999999999")});
  EXPECT_EQ(root_value(open_value(far)).as_device(), "nope:99999999999");
  const py::Code plain = py::call("torch.serialization._get_layout", {py::text("strided")});
  const Checkpoint layout = open_value(plain);
  EXPECT_EQ(layout.root().as_layout(), "strided");
}

TEST(Value, OrderedDictOfPairs) {
  const py::Code pairs = py::list(
      {py::list({py::text("a"), py::integer(1)}), py::tuple({py::text("b"), py::integer(2)})});
  const Checkpoint checkpoint = open_value(py::with_items(
      py::call("collections.OrderedDict", {pairs}), py::Pairs{{py::text("c"), py::integer(3)}}));
  const Value root = checkpoint.root();
  EXPECT_EQ(root.kind(), Kind::ordered_dict);
  EXPECT_EQ(root.size(), 3u);
  EXPECT_EQ(root["a"].as_int(), 1);
  EXPECT_EQ(root["b"].as_int(), 2);
  EXPECT_EQ(root["c"].as_int(), 3);
}

TEST(Value, Sequences) {
  const Value list = at("list");
  EXPECT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].as_int(), 1);
  EXPECT_EQ(list[-1].as_int(), 2);
  EXPECT_EQ(list[-2].as_int(), 1);
  EXPECT_FALSE(list[2]);
  EXPECT_FALSE(list[-3]);
  EXPECT_FALSE(list["x"]);
  EXPECT_EQ(at("tuple")[0].as_string(), "a");
  EXPECT_EQ(at("size")[1].as_int(), 3);
  EXPECT_EQ(at("set").size(), 1u);
  EXPECT_FALSE(at("set")[0]) << "a set has no places";
  EXPECT_FALSE(at("frozenset")[0]);
  EXPECT_EQ((*at("frozenset").elements().begin()).as_int(), 4);
  std::int64_t sum = 0;
  for (const Value item : list.elements()) sum += *item.as_int();
  EXPECT_EQ(sum, 3);
}

TEST(Value, Dicts) {
  const Value dict = at("dict");
  EXPECT_EQ(dict.size(), 2u);
  EXPECT_EQ(dict["k"].as_int(), 1);
  EXPECT_EQ(dict[5].as_string(), "five");
  EXPECT_FALSE(dict[0]) << "an integer is a key, not a place";
  EXPECT_FALSE(dict["5"]);
  std::vector<std::string> keys;
  for (const auto& [key, value] : dict.items()) keys.push_back(repr(key));
  EXPECT_THAT(keys, ElementsAre("'k'", "5"));
  EXPECT_TRUE(dict.elements().empty());
  EXPECT_EQ(dict.items().size(), 2u);
}

TEST(Value, OrderedDictsHaveKeysAndAttributes) {
  const Value dict = at("ordered_dict");
  EXPECT_EQ(dict["w"].as_int(), 2);
  EXPECT_EQ(dict["_metadata"].as_string(), "m");
  EXPECT_EQ(dict.attribute("_metadata").as_string(), "m");
  EXPECT_FALSE(dict.attribute("w"));
  EXPECT_EQ(dict.size(), 1u) << "attributes are no items";
}

TEST(Value, Objects) {
  const Value object = at("object");
  EXPECT_EQ(object.construction(), Construction::reduce);
  EXPECT_EQ(object.callable().kind(), Kind::global);
  EXPECT_EQ(object.args()[0].as_int(), 1);
  EXPECT_FALSE(object.kwargs());
  EXPECT_EQ(object.state().kind(), Kind::dict);
  EXPECT_EQ(object["x"].as_int(), 5);
  EXPECT_EQ(object.attribute("x").as_int(), 5);
  EXPECT_EQ(object.global_name().first, "mine");
  EXPECT_EQ(object.global_name().second, "Plain");
  EXPECT_EQ(object.type_name(), "mine.Plain");
}

TEST(Value, ObjectsWithItems) {
  const Value mixed = at("mixed");
  EXPECT_EQ(mixed.construction(), Construction::newobj);
  EXPECT_EQ(mixed.size(), 4u) << "two items and two pairs";
  EXPECT_EQ(mixed[1].as_int(), 9);
  EXPECT_EQ(mixed["k"].as_string(), "v");
  EXPECT_FALSE(mixed.state());
}

TEST(Value, KeywordArguments) {
  const py::Code object = py::global("mine.Keyword") + py::integers({1}) +
                          py::dict({{py::text("key"), py::integer(2)}}) + "\x92";
  const Checkpoint checkpoint = open_value(object);
  EXPECT_EQ(checkpoint.root().construction(), Construction::newobj_ex);
  EXPECT_EQ(checkpoint.root().kwargs()["key"].as_int(), 2);
}

TEST(Value, SlotsAreAttributesToo) {
  const py::Code state = py::tuple(
      {py::dict({{py::text("a"), py::integer(1)}}), py::dict({{py::text("b"), py::integer(2)}})});
  const Checkpoint checkpoint = open_value(py::build(py::make("mine.Slotted"), state));
  EXPECT_EQ(checkpoint.root()["a"].as_int(), 1);
  EXPECT_EQ(checkpoint.root()["b"].as_int(), 2);
  EXPECT_FALSE(checkpoint.root()["c"]);
  const Checkpoint other = open_value(py::build(py::make("mine.Slotted"), py::integers({1, 2, 3})));
  EXPECT_FALSE(other.root()["a"]);
  EXPECT_EQ(other.root().state().size(), 3u);
}

TEST(Value, CallablesThatAreNoGlobals) {
  const py::Code getattr =
      py::call("__builtin__.getattr", {py::global("torch._C.Functions"), py::text("relu")});
  const Checkpoint checkpoint = open_value(getattr + py::tuple({}) + "R");
  EXPECT_EQ(checkpoint.root().kind(), Kind::object);
  EXPECT_EQ(checkpoint.root().callable().kind(), Kind::object);
  EXPECT_EQ(checkpoint.root().global_name().second, "");
  EXPECT_EQ(checkpoint.root().type_name(), "object");
}

TEST(Value, TorchValues) {
  EXPECT_EQ(at("dtype").as_dtype(), DType::bf16);
  EXPECT_EQ(at("device").as_device(), "cuda:1");
  EXPECT_EQ(at("layout").as_layout(), "sparse_coo");
  EXPECT_EQ(at("tensor").as_tensor()->numel(), 4);
  const auto storage = at("storage").as_storage();
  ASSERT_TRUE(storage);
  EXPECT_EQ(storage->storage_class, "torch.FloatStorage");
  EXPECT_EQ(storage->key, "0");
  EXPECT_EQ(storage->device, "cpu");
  EXPECT_EQ(storage->numel, 4);
  EXPECT_EQ(storage->dtype, DType::f32);
  EXPECT_EQ(storage->storage, at("tensor").as_tensor()->storage());
  EXPECT_EQ(at("persistent").persistent_id().as_string(), "somewhere");
}

TEST(Value, TypeNames) {
  const std::pair<std::string_view, std::string_view> names[] = {
      {"none", "NoneType"},
      {"boolean", "bool"},
      {"integer", "int"},
      {"huge", "int"},
      {"real", "float"},
      {"complex", "complex"},
      {"string", "str"},
      {"bytes", "bytes"},
      {"bytearray", "bytearray"},
      {"list", "list"},
      {"tuple", "tuple"},
      {"set", "set"},
      {"frozenset", "frozenset"},
      {"dict", "dict"},
      {"ordered_dict", "collections.OrderedDict"},
      {"size", "torch.Size"},
      {"global", "type"},
      {"dtype", "torch.dtype"},
      {"device", "torch.device"},
      {"layout", "torch.layout"},
      {"tensor", "torch.Tensor"},
      {"storage", "torch.FloatStorage"},
      {"mixed", "mine.Mixed"},
      {"persistent", "persistent id"}};
  for (const auto& [value, name] : names) EXPECT_EQ(at(value).type_name(), name) << value;
}

TEST(Repr, AsPythonWritesIt) {
  const std::pair<std::string_view, std::string_view> texts[] = {
      {"none", "None"},
      {"boolean", "True"},
      {"integer", "-7"},
      {"huge", "18446744073709551616"},
      {"real", "2.5"},
      {"complex", "(1-2j)"},
      {"string", "'t\xc3\xa9xt'"},
      {"bytes", "b'\\x00\\xff'"},
      {"bytearray", "bytearray(b'ab')"},
      {"list", "[1, 2]"},
      {"tuple", "('a',)"},
      {"set", "{1}"},
      {"frozenset", "frozenset({4})"},
      {"dict", "{'k': 1, 5: 'five'}"},
      {"ordered_dict", "OrderedDict({'w': 2})"},
      {"size", "torch.Size([2, 3])"},
      {"global", "mine.function"},
      {"dtype", "torch.bfloat16"},
      {"device", "device('cuda:1')"},
      {"layout", "torch.sparse_coo"},
      {"tensor", "<torch.Tensor float32 [4]>"},
      {"storage", "<torch.FloatStorage '0' of 4 elements>"},
      {"object", "<mine.Plain of 0>"},
      {"persistent", "<persistent id of 0>"},
      {"nothing", "<missing>"}};
  for (const auto& [value, text] : texts) EXPECT_EQ(repr(at(value)), text) << value;
}

std::string repr_of(const py::Code& value, std::size_t max_length = 200) {
  return repr(root_value(open_value(value)), max_length);
}

TEST(Repr, ComplexNumbers) {
  const auto complex = [](double real, double imag) {
    return repr_of(py::call("__builtin__.complex", {py::real(real), py::real(imag)}));
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(complex(0, 1), "1j");
  EXPECT_EQ(complex(-0.0, 1), "(-0+1j)");
  EXPECT_EQ(complex(1.5, -0.0), "(1.5-0j)");
  EXPECT_EQ(complex(1e16, 1e-5), "(1e+16+1e-05j)");
  EXPECT_EQ(complex(kInfinity, -kInfinity), "(inf-infj)");
  EXPECT_EQ(complex(kNan, kNan), "(nan+nanj)");
}

TEST(Repr, EmptyContainers) {
  EXPECT_EQ(repr_of(py::list({})), "[]");
  EXPECT_EQ(repr_of(py::tuple({})), "()");
  EXPECT_EQ(repr_of(py::dict({})), "{}");
  EXPECT_EQ(repr_of(py::call("__builtin__.set", {})), "set()");
  EXPECT_EQ(repr_of(py::call("__builtin__.frozenset", {})), "frozenset()");
  EXPECT_EQ(repr_of(py::ordered_dict()), "OrderedDict()");
  EXPECT_EQ(repr_of(py::call("torch.Size", {py::tuple({})})), "torch.Size([])");
}

TEST(Repr, ShowsOneLevelAndIsCut) {
  EXPECT_EQ(repr_of(py::list({py::list({py::integer(1)}), py::dict({}), py::ordered_dict()})),
            "[<list of 1>, <dict of 0>, <collections.OrderedDict of 0>]");
  EXPECT_EQ(repr_of(py::integers({1, 2, 3, 4, 5}), 6), "(1, 2, …)");
  EXPECT_EQ(repr_of(py::dict({{py::text("key"), py::integer(1)}}), 3), "{…}");
  const py::Code self = py::put(0, "]") + "(" + py::get(0) + "e";
  EXPECT_EQ(repr_of(self), "[<list of 1>]") << "a list that holds itself";
}

TEST(Repr, RaggedTensorsAndParameters) {
  const py::Code parameter =
      py::call("torch._utils._rebuild_parameter", {py::tensor(), py::boolean(true), py::none()});
  CheckpointBuilder file(parameter);
  file.storage("0", std::vector<float>(4));
  EXPECT_EQ(repr(root_value(file.open())), "<torch.nn.parameter.Parameter float32 [4]>");
  const py::Code jagged =
      py::call("torch.nested._internal.nested_tensor.NestedTensor", {py::tensor(), py::none()});
  CheckpointBuilder ragged(jagged);
  EXPECT_EQ(repr(root_value(ragged.storage("0", std::vector<float>(4)).open())),
            "<torch.Tensor float32 ragged>");
}

}  // namespace
}  // namespace flambeau::testing
