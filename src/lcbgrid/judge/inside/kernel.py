"""The kernel calls that Python has no function for: prctl, through it seccomp, and landlock."""

from __future__ import annotations

import ctypes
import errno
import os
import struct

_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2

_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_KILL_PROCESS = 0x80000000
_LOAD_WORD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_AT_NUMBER, _AT_ARCHITECTURE, _AT_FIRST_ARGUMENT = 0, 4, 16
_AF_UNIX = 1
_NEW_NAMESPACE_FLAGS = 0x7E020000
_X32_BIT = 0x40000000

# Calls that no solution of a programming problem needs. Starting other programs and opening
# network sockets are refused here, so that both tiers refuse them alike; the rest is kernel
# surface, or would leave something behind for the next program (extended attributes, SysV IPC).
_REFUSED = {
    "x86_64": {
        "execve": 59, "execveat": 322, "ptrace": 101, "process_vm_readv": 310,
        "process_vm_writev": 311, "unshare": 272, "setns": 308, "mount": 165, "umount2": 166,
        "pivot_root": 155, "chroot": 161, "open_tree": 428, "move_mount": 429, "fsopen": 430,
        "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442, "bpf": 321,
        "perf_event_open": 298, "userfaultfd": 323, "io_uring_setup": 425, "io_uring_enter": 426,
        "io_uring_register": 427, "keyctl": 250, "add_key": 248, "request_key": 249,
        "init_module": 175, "finit_module": 313, "delete_module": 176, "kexec_load": 246,
        "kexec_file_load": 320, "reboot": 169, "swapon": 167, "swapoff": 168, "acct": 163,
        "syslog": 103, "quotactl": 179, "open_by_handle_at": 304, "fanotify_init": 300,
        "personality": 135, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190,
        "shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240, "kcmp": 312,
        "pidfd_getfd": 438,
    },
    "aarch64": {
        "execve": 221, "execveat": 281, "ptrace": 117, "process_vm_readv": 270,
        "process_vm_writev": 271, "unshare": 97, "setns": 268, "mount": 40, "umount2": 39,
        "pivot_root": 41, "chroot": 51, "open_tree": 428, "move_mount": 429, "fsopen": 430,
        "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442, "bpf": 280,
        "perf_event_open": 241, "userfaultfd": 282, "io_uring_setup": 425, "io_uring_enter": 426,
        "io_uring_register": 427, "keyctl": 219, "add_key": 217, "request_key": 218,
        "init_module": 105, "finit_module": 273, "delete_module": 106, "kexec_load": 104,
        "kexec_file_load": 294, "reboot": 142, "swapon": 224, "swapoff": 225, "acct": 89,
        "syslog": 116, "quotactl": 60, "open_by_handle_at": 265, "fanotify_init": 262,
        "personality": 92, "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7,
        "shmget": 194, "semget": 190, "msgget": 186, "mq_open": 180, "kcmp": 272,
        "pidfd_getfd": 438,
    },
}  # fmt: skip
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE3 = 435
_PRLIMIT = {"x86_64": 302, "aarch64": 261}
_SOCKET = {"x86_64": 41, "aarch64": 198}

# Landlock: the same numbers on every architecture.
_CREATE_RULESET, _RESTRICT_SELF = 444, 446
_ASK_FOR_VERSION = 1
_VERSION_WITH_SCOPES = 6  # Linux 6.12
_SCOPE_SIGNAL = 2

_libc = ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, value: int, pointer: object = 0) -> None:
    arguments = (ctypes.c_ulong(value), pointer or ctypes.c_ulong(0))
    if _libc.prctl(option, *arguments, ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl {option}: {os.strerror(number)}")


def set_dumpable(allowed: bool) -> None:
    """Let, or forbid, other processes of the same user look into this one."""
    _prctl(_PR_SET_DUMPABLE, int(allowed))


def adopt_orphans() -> None:
    """Make this process the parent of every descendant whose own parent is gone."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def can_fence_signals() -> bool:
    """Return whether this kernel can keep a process from signalling those outside its tree."""
    version = _libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_FOR_VERSION)
    return bool(version >= _VERSION_WITH_SCOPES)


def signal_fence() -> int | None:
    """Return a descriptor for `enter_fence`, or ``None`` where the kernel has no such fence."""
    if not can_fence_signals():
        return None
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    wanted = struct.pack("QQQ", 0, 0, _SCOPE_SIGNAL)
    text = ctypes.create_string_buffer(wanted, len(wanted))
    descriptor: int = _libc.syscall(_CREATE_RULESET, text, ctypes.c_size_t(len(wanted)), 0)
    return descriptor if descriptor >= 0 else None


def enter_fence(fence: int) -> None:
    """Signal, and trace, none but this process and its descendants from now on."""
    if _libc.syscall(_RESTRICT_SELF, fence, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"landlock: {os.strerror(number)}")


def refuse_dangerous_calls() -> bool:
    """Install the system call filter for this process and all it will fork.

    Returns:
        Whether a filter is known for this machine's architecture; without it, what the other
        walls allow (starting programs that lie in the sandbox) is possible.
    """
    machine = os.uname().machine
    if machine not in _ARCHITECTURE:
        return False
    program = _filter_program(machine)
    instructions = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(instructions))
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.create_string_buffer(header))
    return True


def _filter_program(machine: str) -> bytes:
    """Return the BPF program: wrong architecture dies, refused calls fail, the rest is allowed."""
    refuse, missing = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS

    def step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
        return struct.pack("HBBI", code, if_true, if_false, value)

    def when(code: int, value: int, answer: int) -> bytes:
        return step(code, value, 0, 1) + step(_RETURN, answer)

    program = step(_LOAD_WORD, _AT_ARCHITECTURE)
    program += step(_JUMP_EQUAL, _ARCHITECTURE[machine], 1, 0) + step(_RETURN, _KILL_PROCESS)
    program += step(_LOAD_WORD, _AT_NUMBER)
    if machine == "x86_64":
        program += when(_JUMP_GREATER_EQUAL, _X32_BIT, refuse)
    # glibc falls back to clone when clone3 is missing; clone3's flags lie in memory, where a
    # filter cannot read them.
    program += when(_JUMP_EQUAL, _CLONE3, missing)
    for number in _REFUSED[machine].values():
        program += when(_JUMP_EQUAL, number, refuse)
    # Only sockets between processes of the sandbox, and only one's own limits.
    for number, argument in ((_SOCKET[machine], _AF_UNIX), (_PRLIMIT[machine], 0)):
        program += step(_JUMP_EQUAL, number, 0, 4)
        program += step(_LOAD_WORD, _AT_FIRST_ARGUMENT) + step(_JUMP_EQUAL, argument, 0, 1)
        program += step(_RETURN, _ALLOW) + step(_RETURN, refuse)
    program += step(_JUMP_EQUAL, _CLONE[machine], 0, 3)
    program += step(_LOAD_WORD, _AT_FIRST_ARGUMENT)
    program += when(_JUMP_ANY_BIT, _NEW_NAMESPACE_FLAGS, refuse)
    return program + step(_RETURN, _ALLOW)
