"""Records of a checkpoint's zip, read with Python's own zipfile module."""
import zipfile


class Archive:
    """A torch.save file: records by their names without the folder."""

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


def is_checkpoint(path):
    """Whether the file is a zip with a data.pkl and no TorchScript constants."""
    with open(path, "rb") as file:
        if file.read(4) != b"PK\x03\x04":
            return False
    archive = Archive(path)
    return archive.has("data.pkl") and not archive.has("constants.pkl")
