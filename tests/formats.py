"""The official formats, written byte by byte to their specifications."""

import io
import struct

import numpy as np


def idx_bytes(array):
    """The specification: 0, 0, type (8: unsigned byte), axes, sizes in big-endian order, data."""
    header = bytes([0, 0, 8, array.ndim]) + b"".join(n.to_bytes(4, "big") for n in array.shape)
    return header + array.tobytes()


def batch_bytes(images, labels, key=b"labels"):
    """A batch as Python 2 pickled it: opcodes spelt out, a dict of bytes to array and list."""
    raw = images.transpose(0, 3, 1, 2).tobytes()
    out = io.BytesIO()
    out.write(b"\x80\x02}(")  # protocol 2, empty dict, mark
    out.write(b"U\x04data")
    out.write(b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85U\x01btR")
    out.write(b"(K\x01" + b"J" + struct.pack("<i", len(images)) + b"M\x00\x0c\x86")
    out.write(
        b"cnumpy\ndtype\n(U\x02u1K\x00K\x01tR(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff"
    )
    out.write(b"K\x00tb\x89T" + struct.pack("<i", len(raw)) + raw + b"tb")
    out.write(b"U" + bytes([len(key)]) + key + b"](" + b"".join(b"K" + bytes([n]) for n in labels))
    out.write(b"eu.")
    return out.getvalue()


IMAGES = np.random.default_rng(0).integers(0, 256, (4, 28, 28), dtype=np.uint8)
COLOUR = np.random.default_rng(1).integers(0, 256, (5, 32, 32, 3), dtype=np.uint8)
