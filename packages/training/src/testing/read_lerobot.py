"""Reads a set with LeRobot itself, and compares every value with what the slow aligner found. Called by check-lerobot.ts."""

import glob
import hashlib
import json
import sys

import numpy as np
import pyarrow.parquet as pq
import torch
from lerobot.datasets.lerobot_dataset import LeRobotDataset

CAMERA = "observation.images.front"
folder = sys.argv[1]
episodes = json.load(open(f"{folder}/expected.json"))
data = LeRobotDataset("local/check", root=f"{folder}/set")
failures = []


def check(name, holds):
    print(f"{'ok' if holds else 'FAILED'}: {name}")
    if not holds:
        failures.append(name)


rows = [row for episode in episodes for row in episode]
check(f"{len(rows)} rows in {len(episodes)} episodes", len(data) == len(rows) and data.num_episodes == len(episodes))

index = 0
is_equal = is_timed = True
for number, episode in enumerate(episodes):
    for frame, row in enumerate(episode):
        item = data[index]
        for name in ("observation.state", "action", "observation.gripper"):
            dtype = np.float64 if name == "observation.gripper" else np.float32
            is_equal &= bool(np.array_equal(np.atleast_1d(item[name].numpy()), np.array(row[name], dtype=dtype)))
        is_timed &= abs(float(item["timestamp"]) - frame / data.fps) < 1e-4
        is_timed &= (int(item["frame_index"]), int(item["episode_index"]), int(item["index"])) == (frame, number, index)
        index += 1
check("every value is that of the slow aligner", is_equal)
check("times, frames, episodes and rows are numbered as LeRobot expects", is_timed)

pictures = [
    hashlib.sha256(picture["bytes"]).hexdigest()
    for path in sorted(glob.glob(f"{folder}/set/data/*/*.parquet"))
    for picture in pq.read_table(path, columns=[CAMERA])[CAMERA].to_pylist()
]
check("the bytes of every picture are those that were recorded", pictures == [row[CAMERA] for row in rows])
check("a picture has three channels from 0 to 1", tuple(data[0][CAMERA].shape) == (3, 48, 64) and float(data[0][CAMERA].max()) <= 1)

for name in ("observation.state", "action", "observation.gripper"):
    values = np.array([row[name] for row in rows], dtype=np.float64)
    stats = data.meta.stats[name]
    wanted = {"min": values.min(0), "max": values.max(0), "mean": values.mean(0), "std": values.std(0)}
    check(f"statistics of {name}", all(np.allclose(stats[key], value, atol=1e-5) for key, value in wanted.items()))

loader = torch.utils.data.DataLoader(data, batch_size=16, shuffle=True)
check("a DataLoader reads all rows", sum(len(batch["index"]) for batch in loader) == len(rows))
window = LeRobotDataset("local/check", root=f"{folder}/set", delta_timestamps={"action": [0, 1 / data.fps, 2 / data.fps]})
check("actions ahead of a row are found by their times", tuple(window[0]["action"].shape) == (3, 2))
check("the task of each row", data[0]["task"] == "pick")
sys.exit(1 if failures else 0)
