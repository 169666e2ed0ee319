"""Flags with which clang or gcc run a program or write a file: one set a line, as a compile database may hold them.

Owns the table.  ``@OUT`` is a folder that stays as it is, ``@EVIL`` one with programs under the names that compilers
look for, each of which leaves a trace.
"""

from __future__ import annotations

AMD = "--target=amdgcn-amd-amdhsa -mcpu=native -nogpulib"
PROGRAMS = (
    "amdgpu-arch",
    "nvptx-arch",
    "offload-arch",
    "as",
    "ld",
    "cc1",
    "cc1plus",
    "gcc",
    "clang",
    "wrapper",
    "wasm-opt",
)

RUNS = f"""
{AMD} --amdgpu-arch-tool=@EVIL/amdgpu-arch
{AMD} -B@EVIL
{AMD} -B @EVIL
--target=x86_64-amd-amdhsa -mcpu=native --amdgpu-arch-tool=@EVIL/amdgpu-arch -nogpulib
--target=amdgcn-amd-amdpal -mcpu=native --amdgpu-arch-tool=@EVIL/amdgpu-arch -nogpulib
--target=amdgcn-mesa-mesa3d -mcpu=native --amdgpu-arch-tool=@EVIL/amdgpu-arch -nogpulib
-x hip --offload-arch=native --amdgpu-arch-tool=@EVIL/amdgpu-arch -nogpulib -nogpuinc
-x hip --offload-arch=native -B@EVIL -nogpulib -nogpuinc
-x cuda --offload-arch=native --nvptx-arch-tool=@EVIL/nvptx-arch -nogpulib -nogpuinc
-x cuda --cuda-gpu-arch=native --nvptx-arch-tool=@EVIL/nvptx-arch -nogpulib -nogpuinc
-x cl --target=amdgcn-amd-amdhsa -mcpu=native --amdgpu-arch-tool=@EVIL/amdgpu-arch -nogpulib
-fopenmp --offload-arch=native --amdgpu-arch-tool=@EVIL/amdgpu-arch -nogpulib
-fopenmp --offload-arch=native --nvptx-arch-tool=@EVIL/nvptx-arch -nogpulib
-fopenmp -fopenmp-targets=amdgcn-amd-amdhsa -Xopenmp-target -march=native -B@EVIL -nogpulib
-fopenmp -fopenmp-targets=nvptx64-nvidia-cuda -Xopenmp-target=nvptx64-nvidia-cuda -march=native -B@EVIL -nogpulib
--target=nvptx64-nvidia-cuda -march=native --nvptx-arch-tool=@EVIL/nvptx-arch
--offload=amdgcn-amd-amdhsa -x hip -B@EVIL -nogpulib
-Xarch_device -mcpu=native -x hip -B@EVIL -nogpulib -nogpuinc
--target=wasm32-unknown-unknown -O2 --wasm-opt -B@EVIL
--config=@EVIL/evil.cfg
--config @EVIL/evil.cfg
@@EVIL/evil.rsp
-fplugin=@EVIL/evil.so
-fplugin=@EVIL/evil.so -fplugin-arg-evil-x=1
-fpass-plugin=@EVIL/evil.so
-Xclang -load -Xclang @EVIL/evil.so
-Xclang -plugin -Xclang evil
-Xclang=-load -Xclang=@EVIL/evil.so
-mllvm -load=@EVIL/evil.so
-wrapper @EVIL/wrapper,--args
-specs=@EVIL/evil.specs
--specs=@EVIL/evil.specs
-B@EVIL
-B @EVIL -no-integrated-cpp
-B@EVIL -fno-integrated-as -c
-fno-integrated-cc1 -B@EVIL
-ccc-gcc-name @EVIL/gcc
-ccc-install-dir @EVIL
-fuse-ld=@EVIL/ld
--ld-path=@EVIL/ld
--gcc-toolchain=@EVIL -fno-integrated-as
--config-system-dir=@EVIL --config-user-dir=@EVIL --config=evil.cfg
--driver-mode=cl -Xclang -load -Xclang @EVIL/evil.so
--driver-mode=flang -load @EVIL/evil.so
--driver-mode=dxc -Vd
-cc1 -load @EVIL/evil.so
-cc1 -analyze -analyzer-checker=core -load @EVIL/evil.so
-cc1as -filetype obj
-cc1gen-reproducer @EVIL/evil.cfg
--analyze -Xanalyzer -load -Xanalyzer @EVIL/evil.so
-x cuda --cuda-path=@EVIL --ptxas-path=@EVIL/as -nocudainc
-x hip --rocm-path=@EVIL --hip-path=@EVIL --hip-link -nogpulib
-x hip --hipspv-pass-plugin=@EVIL/evil.so -nogpulib -nogpuinc
-x hip --hipstdpar --hipstdpar-path=@EVIL --offload-arch=native -nogpulib -nogpuinc
-fopenmp --offload-arch=native -fopenmp-targets=x86_64-unknown-linux-gnu -B@EVIL
-x cl -cl-std=CL2.0 --libomptarget-nvptx-bc-path=@EVIL/x.bc
-fembed-offload-object=@EVIL/evil.so -foffload-lto
--gcc-install-dir=@EVIL --gcc-triple=evil -no-integrated-cpp
-fno-integrated-objemitter -B@EVIL
-dsym-dir @EVIL --target=x86_64-apple-darwin -B@EVIL
--target=x86_64-pc-windows-msvc -vctoolsdir @EVIL -winsdkdir @EVIL
--target=x86_64-pc-windows-msvc /vctoolsdir @EVIL
"""

WRITES = """
-gen-cdb-fragment-path @OUT
-MJ @OUT/x.json
-MD -MF @OUT/x.d
-MMD -MF @OUT/x.d -MT x -MP
-M -MF @OUT/x.d
-MM -MF @OUT/x.d -MG
-Wp,-MD,@OUT/x.d
-Wp,-MMD,@OUT/x.d
-Xpreprocessor -MD -Xpreprocessor @OUT/x.d
-Xpreprocessor -MF -Xpreprocessor @OUT/x.d
-save-temps
-save-temps=obj -o @OUT/x.o
--save-temps=cwd
-save-stats
-save-stats=obj -o @OUT/x.o
-ftime-trace -o @OUT/x.o
-ftime-trace=@OUT/x.json
-gen-reproducer=always -fcrash-diagnostics-dir=@OUT
-fproc-stat-report=@OUT/x
--serialize-diagnostics @OUT/x.dia
-serialize-diagnostics @OUT/x.dia
-c -o @OUT/x.o
-S -o @OUT/x.s
-E -o @OUT/x.i
-emit-llvm -c -o @OUT/x.bc
-emit-ast -o @OUT/x.ast
-fsave-optimization-record -foptimization-record-file=@OUT/x.yaml
--coverage -o @OUT/x.o
-ftest-coverage -fprofile-arcs -fprofile-dir=@OUT
-fprofile-generate=@OUT
-fprofile-instr-generate=@OUT/x.profraw
-gsplit-dwarf -c -o @OUT/x.o
-traditional-cpp
-fmodules -fmodules-cache-path=@OUT/cache
-fmodules -fimplicit-modules -fmodules-user-build-path @OUT/cache
-std=c++20 -x c++-module -fmodule-output=@OUT/x.pcm
-std=c++20 -fmodule-header -x c++-user-header -o @OUT/x.pcm
-x c-header -o @OUT/x.pch
-dependency-dot @OUT/x.dot
-dependency-file @OUT/x.d
-module-dependency-dir @OUT/modules
--analyze --analyzer-output plist -o @OUT/x.plist
-ccc-arcmt-migrate @OUT
-arcmt-migrate-report-output @OUT/x
-emit-interface-stubs -o @OUT/x.ifs
-emit-symbol-graph --symbol-graph-dir=@OUT
-Xclang -dependency-file -Xclang @OUT/x.d
-Xclang -stats-file=@OUT/x
-Xclang -diagnostic-log-file -Xclang @OUT/x
-Xclang -header-include-file -Xclang @OUT/x
-Xclang -emit-obj -Xclang -o -Xclang @OUT/x.o
-mllvm -info-output-file=@OUT/x -mllvm -stats
-fdump-tree-all -dumpdir @OUT/
-fdump-rtl-all -dumpbase @OUT/x
-fstack-usage -o @OUT/x.o
-fcallgraph-info -o @OUT/x.o
-fdiagnostics-format=sarif-file
-aux-info @OUT/x
-Wa,-a=@OUT/x.lst
-Xassembler -MD -Xassembler @OUT/x.d
-Wl,-Map=@OUT/x.map
-Xlinker -Map=@OUT/x.map
-fdump-final-insns=@OUT/x
-fada-spec-parent=x -fdump-ada-spec
-fcompare-debug
-flto -fdepfile-entry=x
-cc1 -emit-obj -o @OUT/x.o
-cc1 -E -dependency-file @OUT/x.d
-cc1 -ast-dump-all=json -o @OUT/x.json
--driver-mode=cl -Fo@OUT/x.obj -Fa@OUT/x.asm
--analyze -Xanalyzer -analyzer-dump-egraph=@OUT/x.dot
--analyze -Xanalyzer -analyzer-output=html -o @OUT/html
--analyze -Xanalyzer -analyzer-config -Xanalyzer ctu-dir=@OUT -Xclang -analyzer-config -Xclang model-path=@OUT
-extract-api --product-name=x -o @OUT/x.json
-extract-api --emit-extension-symbol-graphs --symbol-graph-dir=@OUT
-fcs-profile-generate=@OUT
-fmemory-profile=@OUT
-fprofile-update=atomic -fprofile-arcs -fprofile-dir=@OUT
-frewrite-includes -E -o @OUT/x.i
-frewrite-legacy-objc -o @OUT/x.cpp
-fopenmp-host-ir-file-path @OUT/x
-fthin-link-bitcode=@OUT/x.bc
-fthinlto-index=@OUT/x -flto=thin
-fcrash-diagnostics=all -fcrash-diagnostics-dir=@OUT -gen-reproducer=always
-fdiagnostics-format=sarif -o @OUT/x.sarif
-fdiagnostics-add-output=sarif:file=@OUT/x.sarif
-fdiagnostics-set-output=experimental-html:file=@OUT/x.html
-ftime-report -ftime-report-details -o @OUT/x
-fsave-optimization-record=yaml -foptimization-record-passes=.* -o @OUT/x.o
-fopt-info-all=@OUT/x
-fdump-passes -fdump-go-spec=@OUT/x -fdump-unnumbered
-fmultiple-files -o @OUT/x
-fpch-preprocess -fpch-deps -MD -MF @OUT/x.d
-fdeps-file=@OUT/x.ddi -fdeps-format=p1689r5 -fdeps-target=x -MD
-fmodules-ts -fmodule-mapper=@EVIL/wrapper
-fmodules-ts -fmodule-mapper=|@EVIL/wrapper
-fmodules-ts -fmodule-mapper==@OUT/x
-fbuild-session-file=@OUT/x -fmodules -fmodules-validate-once-per-build-session
-fprofile-note=@OUT/x.gcno -ftest-coverage
-fauto-profile=@OUT/x
-fxray-instrument -fxray-always-instrument=@OUT/x
-working-directory=@OUT -MD
-P -traditional -o @OUT/x
-dumpdir @OUT/x- -gsplit-dwarf -c
"""


def flag_sets() -> list[str]:
    return [line for table in (RUNS, WRITES) for line in table.splitlines() if line]
