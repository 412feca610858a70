// The rows of the command table. Texts are plain ASCII, because they go into the man page, too.
#include <algorithm>
#include <iterator>

#include "command.h"

namespace flambeau::cli {
namespace {

// In the order in which `help` lists them: from the whole file to a single tensor, then the program
// itself. Every row reads: name, operands, summary, options, description, examples, function.
constexpr Command kCommands[] = {
    {"ls", "FILE [PATTERN...]", "list the tensors: names, dtypes, shapes, sizes",
     "json digest long strict no-verify unmapped encoding help",
     "One row for each path that leads to a tensor, in the order in which the file's pickle first "
     "meets them: a tensor with two names is two rows with the same storage. A name is the keys "
     "joined with dots; positions in lists are numbers.\n"
     "PATTERN is a shell-style glob on names (* ? [a-z] [!a-z], where * takes dots, too); several "
     "are or-ed. A PATTERN that matches nothing makes the exit status 1.\n"
     "Without --digest no tensor data is read. The last lines sum up: how many tensors, how many "
     "of "
     "them parameters, their bytes, how many of these belong to rows that share a storage with an "
     "earlier row, and storages in the file that no tensor reaches.",
     "flambeau ls model.pt  # every tensor, and a summary\n"
     "flambeau ls -l model.pt 'encoder.*.weight'  # all there is to know about some\n"
     "flambeau ls --json --digest model.pt  # for programs, with a SHA-256 of each tensor",
     run_ls},
    {"tree", "FILE", "print the whole object graph, tensors or not",
     "json all strict no-verify unmapped encoding help",
     "Everything that the file holds, indented, much as Python would print it. Long containers are "
     "folded unless --all is given. An object that several places lead to is marked &1 where it is "
     "printed and stands as *1 elsewhere. Objects of classes are shown as <module.Class ...> with "
     "their arguments, items and attributes; nothing is ever imported or called.\n"
     "With --json nothing is left out: docs/cli.md has the form.",
     "flambeau tree checkpoint.pt  # epochs, hyper-parameters, optimizer state\n"
     "flambeau tree --all checkpoint.pt  # every entry of every container\n"
     "flambeau tree --json checkpoint.pt  # lossless, shared objects as references",
     run_tree},
    {"show", "FILE NAME...", "print tensors and other values",
     "json full max-output strict no-verify unmapped encoding help",
     "NAME is a name or a path of `flambeau ls`, or leads to any other value of the graph "
     "(config.lr, ['config']['lr']; '' is the whole of it). A tensor is printed as PyTorch prints "
     "it, with ... for the "
     "middle of large ones unless --full is given; anything else as `flambeau tree` prints it. The "
     "inner tensors of sparse, quantized and nested ones are reached by NAME.indices and so on.\n"
     "With --json all elements are written, as nested lists.",
     "flambeau show model.pt layer1.weight  # as PyTorch prints it\n"
     "flambeau show checkpoint.pt epoch config  # values, not tensors\n"
     "flambeau show --json model.pt \"['layer1.bias']\"  # every element",
     run_show},
    {"dis", "FILE", "disassemble the pickle", "json record strict no-verify unmapped help",
     "One line for each instruction, with the same offsets, names and arguments as Python's "
     "`python -m pickletools` prints. FILE is a checkpoint, whose data.pkl is taken, or a bare "
     "pickle. A broken pickle is printed up to the place where it breaks.",
     "flambeau dis model.pt\n"
     "flambeau dis model.pt --record constants.pkl  # another record of the archive\n"
     "flambeau dis object.pkl  # a bare pickle",
     run_dis},
    {"info", "FILE", "say what kind of file it is and what is unusual about it",
     "json strict no-verify unmapped encoding help",
     "Container, the PyTorch releases that write such files, byte order, alignment, records, "
     "sizes, "
     "whether there are checksums, and notes on what PyTorch would accept though two readers could "
     "see different data (ambiguity) or that is merely rare (information). --strict refuses files "
     "with ambiguities.",
     "flambeau info download.pt\nflambeau info --json download.pt", run_info},
    {"get", "FILE NAME", "take one tensor out, as numpy's .npy or as bare elements",
     "output as force durability max-output json strict no-verify unmapped encoding help",
     "NAME is as in `flambeau show`; numpy arrays inside the checkpoint are reached by their path. "
     "OUT.npy holds bool, integers, floats and complex numbers as numpy has them, quantized "
     "tensors "
     "as their integers; bfloat16, the 8- and 4-bit floats and other types that numpy lacks need "
     "--as. OUT.bin holds the bare elements in row-major order, little-endian, of any type.\n"
     "OUT appears whole or not at all, and an existing one is replaced only with --force. "
     "--durability says how much of it is on the disk when the command reports success: none, "
     "file (its bytes) or full (its name, too; the default).",
     "flambeau get model.pt layer1.weight -o weight.npy\n"
     "flambeau get model.pt head.weight --as float32 -o head.npy  # from bfloat16\n"
     "flambeau get model.pt embedding.indices -o indices.npy  # a part of a sparse tensor",
     run_get},
    {"resave", "FILE OUT", "write a checkpoint again, as PyTorch would",
     "layout alignment no-crc compact archive-name force durability json strict no-verify unmapped "
     "help",
     "The object graph is decoded and encoded again: OUT has the same bytes as FILE where PyTorch "
     "wrote FILE and no option changes the form. --layout takes the records and their order of "
     "other releases, --compact cuts each storage to the bytes that its tensors reach.\n"
     "OUT appears whole or not at all, and an existing one is replaced only with --force. A file "
     "that two readers could see differently is refused unless --force is given.",
     "flambeau resave model.pt copy.pt\n"
     "flambeau resave slice.pt small.pt --compact  # without what no tensor reaches\n"
     "flambeau resave new.pt old.pt --layout torch_1_6 --archive-name archive",
     run_resave},
    {"edit", "FILE OUT", "drop, rename and set entries, and leave all else as it is",
     "drop rename set layout alignment no-crc compact archive-name force durability json strict "
     "no-verify unmapped help",
     "OUT is the file that PyTorch would save for the object so changed. Entries are tensors, "
     "numbers, texts and whole containers, by the names and paths of `flambeau ls` and `flambeau "
     "tree`; all names are those of FILE, whatever the other options change.\n"
     "PATTERN is a shell-style glob on names, as for `flambeau ls`; one that matches nothing is "
     "warned of. NEW begins as OLD does, since an entry stays in its container. VALUE is a Python "
     "literal, so texts need quotes of their own: --set \"name='abc'\". A NAME that is not there "
     "becomes the last entry of the innermost container that its name begins with.\n"
     "The bytes of dropped tensors go with them, unless others share their storage; --compact cuts "
     "these, too.",
     "flambeau edit ckpt.pt model.pt --drop 'optimizer*' --set epoch=0\n"
     "flambeau edit model.pt out.pt --rename fc.weight=head.weight\n"
     "flambeau edit ckpt.pt out.pt --set \"config={'lr': 1e-3, 'name': 'small'}\"",
     run_edit},
    {"convert", "FILE OUT", "write the tensors to a file of another kind",
     "to dtype select exclude metadata force durability json strict no-verify unmapped encoding "
     "help",
     "OUT.safetensors takes strided tensors, made contiguous; of tensors that are one, the first "
     "name in order keeps the data, and the file's metadata says which names mean it, too. OUT.pt "
     "takes a dict of the tensors, as torch.save writes it, in their order in FILE.\n"
     "Names are those of `flambeau ls`. What is no tensor is left out, and counted in a message. "
     "Sparse, quantized and other tensors of parts are refused until they are excluded.\n"
     "OUT appears whole or not at all, and an existing one is replaced only with --force. A file "
     "that two readers could see differently is refused unless --force is given.",
     "flambeau convert model.pt model.safetensors --dtype bfloat16\n"
     "flambeau convert ckpt.pt model.safetensors --select 'model.*'\n"
     "flambeau convert model.safetensors model.pt",
     run_convert},
    {"help", "[COMMAND]", "explain a command", "man help",
     "Without COMMAND, the list of commands. With --man, the man page of all of them.",
     "flambeau help ls\nflambeau help --man | man -l -  # read it as a man page", run_help},
    {"completions", "SHELL", "print a completion script for bash, zsh or fish", "help",
     "SHELL is bash, zsh or fish. The script completes commands, options, their values and files.",
     "source <(flambeau completions bash)  # in ~/.bashrc\n"
     "flambeau completions zsh > ~/.zfunc/_flambeau  # a folder of $fpath\n"
     "flambeau completions fish > ~/.config/fish/completions/flambeau.fish",
     run_completions},
};

}  // namespace

std::span<const Command> commands() noexcept { return kCommands; }

// A dozen rows: a linear search is the fastest there is.
const Command* find_command(std::string_view name) noexcept {
  const auto* const at = std::find_if(std::begin(kCommands), std::end(kCommands),
                                      [&](const Command& row) { return row.name == name; });
  return at == std::end(kCommands) ? nullptr : at;
}

}  // namespace flambeau::cli
