"""What `flambeau ls --json --digest FILE` has to print, by PyTorch's own loading."""
from archive import opened
from loaded import Trace
from paths import tensor_paths
from recorder import record


def expected_ls(path, digest=True):
    """The document without `file`."""
    archive = opened(path)
    found, first_only = tensor_paths(record(archive.pickle()))
    trace = Trace(path)
    document = {"container": archive.container, "byteorder": archive.byteorder(),
                "tensors": [{"name": name, "path": where, **trace.row(tensor, digest)}
                            for name, where, tensor in found]}
    if first_only:
        document["paths"] = "first"
    return document
