"""Coders of pictures and sound with several threads.  Owns their rows."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

from bench.truth.programs.program import Program


def _picture(where: Path) -> None:
    """24 frames of moving noise, 320 by 180, in the format that x264 reads."""
    draw = random.Random(2)
    base = bytes(draw.choices(range(256), k=320 * 180 * 2))
    with (where / "input.y4m").open("wb") as file:
        file.write(b"YUV4MPEG2 W320 H180 F25:1 C420jpeg\n")
        for frame in range(24):
            file.write(b"FRAME\n" + base[frame * 97 :][: 320 * 180] + b"\x80" * (320 * 180 // 2))


def _film(where: Path) -> None:
    """A film with picture and sound, as ffmpeg itself makes it."""
    pattern = ("-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=2")
    tone = ("-f", "lavfi", "-i", "sine=frequency=440:duration=2")
    coders = ("-c:v", "libx264", "-preset", "veryfast", "-c:a", "aac", str(where / "input.mkv"))
    subprocess.run(["ffmpeg", "-v", "error", *pattern, *tone, *coders], check=True, stdin=subprocess.DEVNULL)


def _photograph(where: Path) -> None:
    draw = random.Random(3)
    pixels = bytes((x * y + draw.randrange(64)) % 256 for y in range(300) for x in range(1200))
    (where / "input.ppm").write_bytes(b"P6 400 300 255\n" + pixels)


ROWS = (
    Program(
        "libx264",
        "libx264-164",
        ("/usr/bin/x264", "--threads", "3", "--preset", "veryfast", "-o", "{where}/out.264", "{where}/input.y4m"),
        prepare=_picture,
        judged=("/lib/x86_64-linux-gnu/libx264.so.164",),
        needs=("x264",),
    ),
    Program(
        "ffmpeg",
        "ffmpeg",
        (
            *("/usr/bin/ffmpeg", "-v", "error", "-nostdin", "-y", "-threads", "3", "-i", "{where}/input.mkv"),
            *("-vf", "scale=160:90,unsharp", "-filter_threads", "3", "-c:v", "mpeg4", "-threads", "3", "-slices", "3"),
            *("-c:a", "flac", "{where}/out.mkv"),
        ),
        prepare=_film,
        judged=(
            "/usr/bin/ffmpeg",
            "/lib/x86_64-linux-gnu/libavcodec.so.59",
            "/lib/x86_64-linux-gnu/libavutil.so.57",
            "/lib/x86_64-linux-gnu/libavfilter.so.8",
        ),
    ),
    Program(
        "ImageMagick",
        "libmagickcore-6.q16-6",
        (
            *("/usr/bin/convert-im6.q16", "{where}/input.ppm", "-resize", "150%", "-blur", "0x1.5", "-modulate", "110"),
            *("-despeckle", "{where}/out.png"),
        ),
        prepare=_photograph,
        judged=("/lib/x86_64-linux-gnu/libMagickCore-6.Q16.so.6",),
        needs=("imagemagick-6.q16",),
        environment=(("OMP_NUM_THREADS", "3"), ("OMP_WAIT_POLICY", "passive"), ("MAGICK_THREAD_LIMIT", "3")),
    ),
)
