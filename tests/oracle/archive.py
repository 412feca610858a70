"""Where a checkpoint keeps its pickle: records of a zip, read with Python's own zipfile module, and
pickles of a stream, told apart by Python's own pickletools."""
import io
import pickletools
import zipfile


class Archive:
    """A torch.save file: records by their names without the folder."""

    container = "zip"

    def pickle(self):
        return self.read("data.pkl")

    def __init__(self, path):
        self.zip = zipfile.ZipFile(path)
        for info in self.zip.infolist():
            if info.CRC == 0:
                del info.CRC  # "not computed": zipfile then compares nothing
        self.names = [info.filename for info in self.zip.infolist()]
        self.folder = self.names[0].split("/")[0]
        self.lower = {name.lower(): name for name in reversed(self.names)}

    def has(self, name):
        return f"{self.folder}/{name}".lower() in self.lower

    def read(self, name):
        """The bytes of a record; upper and lower case are the same."""
        return self.zip.read(self.lower[f"{self.folder}/{name}".lower()])

    def byteorder(self):
        return self.read("byteorder").decode() if self.has("byteorder") else "little"


class Stream:
    """The five pickles of a torch.save file of the format before 1.6."""

    container = "legacy"
    MAGIC = 0x1950A86A20F9469CFC6C

    def __init__(self, path):
        with open(path, "rb") as file:
            data = io.BytesIO(file.read())
        self.pickles = []
        for _ in range(5):
            start = data.tell()
            for _ in pickletools.genops(data):
                pass
            self.pickles.append(data.getvalue()[start:data.tell()])

    def pickle(self):
        return self.pickles[3]

    @staticmethod
    def byteorder():
        return "little"


def is_stream(path):
    with open(path, "rb") as file:
        try:
            return next(arg for opcode, arg, _ in pickletools.genops(file.read(32))
                        if opcode.name.startswith("LONG")) == Stream.MAGIC
        except (ValueError, StopIteration):
            return False


def opened(path):
    return Stream(path) if is_stream(path) else Archive(path)


def is_checkpoint(path):
    """Whether the file is a stream, or a zip with a data.pkl and no TorchScript constants."""
    if is_stream(path):
        return True
    with open(path, "rb") as file:
        if file.read(4) != b"PK\x03\x04":
            return False
    archive = Archive(path)
    return archive.has("data.pkl") and not archive.has("constants.pkl")
