"""Makes ears.sofa: what two ears hear from five directions, in numbers that a test can know.

    pip install h5py && python3 make_ears.py ears.sofa
"""

import sys

import h5py
import numpy as np

POSITIONS = [[0, 0, 1.4], [90, 0, 1.4], [180, 0, 1.4], [270, 0, 1.4], [0, 90, 1.4]]
FRAMES = 8
RATE = 48000.0

measured = len(POSITIONS)
responses = np.zeros((measured, 2, FRAMES))
for k in range(measured):
    responses[k, 0, 0], responses[k, 0, k + 1] = 0.1 * (k + 1), -0.25
    responses[k, 1, 1], responses[k, 1, 7] = 0.01 * (k + 1), 0.5
# A source on one side comes three frames later to the other ear.
delays = np.zeros((measured, 2))
delays[1, 1] = delays[3, 0] = 3

facts = {
    "Conventions": "SOFA",
    "Version": "1.0",
    "SOFAConventions": "SimpleFreeFieldHRIR",
    "SOFAConventionsVersion": "1.0",
    "DataType": "FIR",
    "RoomType": "free field",
    "Title": "Two ears, made up",
    "License": "MIT OR Apache-2.0",
}
arrays = {
    "ListenerPosition": ([[0, 0, 0]], "I,C", "cartesian"),
    "ListenerView": ([[1, 0, 0]], "I,C", "cartesian"),
    "ListenerUp": ([[0, 0, 1]], "I,C", "cartesian"),
    "ReceiverPosition": ([[[0], [0.09], [0]], [[0], [-0.09], [0]]], "R,C,I", "cartesian"),
    "SourcePosition": (POSITIONS, "M,C", "spherical"),
    "EmitterPosition": ([[[0], [0], [0]]], "E,C,I", "cartesian"),
    "Data.IR": (responses, "M,R,N", None),
    "Data.SamplingRate": ([RATE], "I", None),
    "Data.Delay": (delays, "M,R", None),
}
with h5py.File(sys.argv[1], "w", libver=("v108", "v108"), track_order=True) as file:
    for name, value in facts.items():
        file.attrs.create(name, np.bytes_(value))
    for name, size in {"I": 1, "C": 3, "R": 2, "E": 1, "N": FRAMES, "M": measured}.items():
        scale = file.create_dataset(name, data=np.zeros(size, ">f4"))
        scale.attrs.create("CLASS", np.bytes_("DIMENSION_SCALE"))
        told = "This is a netCDF dimension but not a netCDF variable. %10d" % size
        scale.attrs.create("NAME", np.bytes_(told))
    for name, (values, dimensions, kind) in arrays.items():
        array = file.create_dataset(name, data=np.asarray(values, "<f8"))
        array.attrs.create("DIMENSION_LIST", np.bytes_(dimensions))
        if kind:
            array.attrs.create("Type", np.bytes_(kind))
