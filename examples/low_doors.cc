// The layers below, by themselves: the zip's records, and the pickle's instructions.
#include <flambeau/flambeau.h>
#include <fmt/format.h>

int main() {
  // [doors]
  flambeau::ArchiveReader archive(flambeau::open_file("digits.pt"));
  fmt::print("{} records in {}/\n", archive.size(), archive.folder());
  flambeau::Block pickle = archive.read(*archive.find("data.pkl"));
  flambeau::InstructionReader reader(pickle.bytes, "data.pkl");
  std::size_t globals = 0;
  for (flambeau::Instruction ins; reader.next(ins);)
    if (ins.op == flambeau::Opcode::GLOBAL)
      fmt::print("{}: {}.{}\n", ++globals, ins.text, ins.name);
  // [doors]
  return 0;
}
