"""Source facts as the judge sees them: merged over units, laid out as the compiler would.

Owns ``Program`` (the merge), the model of what gcc and clang emit, and the predicted image.  Does not run the Clang
tool and does not read its stream (``analyzer`` does).
"""
