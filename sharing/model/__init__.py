"""Every type that one stage hands to the next.

Owns frozen value types, numpy record layouts and the two reader errors.  Contains no judgement, and input/output
only where everybody needs the same; every other package may import it and it imports none of them.
"""

__all__ = [
    "ARG_DTYPE",
    "BLOCK_DTYPE",
    "CALL_DTYPE",
    "FUNCTION_DTYPE",
    "HELD_DTYPE",
    "KEPT_DTYPE",
    "ORIGIN_DTYPE",
    "PARAM_DTYPE",
    "SITE_DTYPE",
    "VARIABLE_DTYPE",
    "ZERO_RANGE_DTYPE",
    "AccessKind",
    "Architecture",
    "ArgKind",
    "Confidence",
    "Coverage",
    "Evidence",
    "Finding",
    "FixSettings",
    "FunctionFlag",
    "Image",
    "ImageKind",
    "LinePicture",
    "LineRef",
    "LinemateError",
    "LockAbi",
    "LockCall",
    "LockKind",
    "LockRow",
    "Malformed",
    "Member",
    "Origins",
    "Participant",
    "ProjectConfig",
    "ProjectSettings",
    "Related",
    "Remedy",
    "Report",
    "RuleInfo",
    "Section",
    "SectionKind",
    "Severity",
    "SiteFlag",
    "Slice",
    "SourceEdit",
    "SuppressRow",
    "Target",
    "ThreadRow",
    "TypeKind",
    "TypeMember",
    "TypeRecord",
    "TypeTable",
    "Unrecognized",
    "VariableFlag",
    "Verdict",
    "Vocabulary",
    "WaitCall",
]

TYPE_CHECKING = False  # as a type checker takes it
if TYPE_CHECKING:
    from sharing.model.errors import LinemateError, Malformed, Unrecognized
    from sharing.model.finding import (
        Confidence,
        Coverage,
        Evidence,
        Finding,
        LinePicture,
        LineRef,
        Participant,
        Related,
        Remedy,
        Report,
        Severity,
        Slice,
        SourceEdit,
        Target,
        Verdict,
    )
    from sharing.model.image import (
        ARG_DTYPE,
        BLOCK_DTYPE,
        CALL_DTYPE,
        FUNCTION_DTYPE,
        HELD_DTYPE,
        KEPT_DTYPE,
        PARAM_DTYPE,
        SITE_DTYPE,
        VARIABLE_DTYPE,
        ZERO_RANGE_DTYPE,
        AccessKind,
        Architecture,
        ArgKind,
        FunctionFlag,
        Image,
        ImageKind,
        Section,
        SectionKind,
        SiteFlag,
        VariableFlag,
    )
    from sharing.model.origins import ORIGIN_DTYPE, Origins
    from sharing.model.project import FixSettings, ProjectConfig, ProjectSettings, SuppressRow
    from sharing.model.rule import RuleInfo
    from sharing.model.types import Member, TypeKind, TypeMember, TypeRecord, TypeTable
    from sharing.model.vocabulary import LockAbi, LockCall, LockKind, LockRow, ThreadRow, Vocabulary, WaitCall
else:
    # Loaded when a name is first asked for: what only names an error pays for no tables (numpy takes 0.1 s).
    _HOMES = ("errors", "finding", "image", "origins", "project", "rule", "types", "vocabulary")

    def __getattr__(name):
        from importlib import import_module

        if name in __all__:
            for home in _HOMES:
                module = import_module(f"{__name__}.{home}")
                if hasattr(module, name):
                    value = globals()[name] = getattr(module, name)
                    return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
