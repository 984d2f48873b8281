import { describe, expect, test } from "vitest";
import { findRefusal } from "../../../src/tools/sandbox/refusal.ts";

const policy = {
  workDir: "/w",
  writable: ["/w"],
  readOnly: ["/w/.harness9", "/w/.git/hooks"],
  hidden: ["/home/u/.ssh", "/home/u/.harness9", "/run/docker.sock"],
  visible: [],
  network: "on",
} as const;

describe("what a failed command prints tells what was refused", () => {
  test.each([
    ["touch: cannot touch '/etc/x': Read-only file system", "write"],
    ["touch: 无法创建 '/etc/x': 只读文件系统", "write"],
    ["Error: EROFS: read-only file system, open '/usr/x'", "write"],
    ["error: failed to create file: Read-only file system (os error 30)", "write"],
    ["OSError: [Errno 30] Read-only file system: '/x'", "write"],
    ["mv: cannot move '.harness9' to 'x': Device or resource busy", "write"],
    ["cat: /home/u/.ssh/id: No such file or directory", "hidden"],
    ["Can't open user config file /home/u/.ssh/config: Permission denied", "hidden"],
    ["touch: cannot touch '/home/u/.ssh/x': Read-only file system", "hidden"],
    ["Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is it running?", "hidden"],
    ['sudo: The "no new privileges" flag is set, which prevents sudo from running as root.', "privilege"],
    ["sudo: /usr/bin/sudo must be owned by uid 0 and have the setuid bit set", "privilege"],
    ["cat: /home/u/.sshx: No such file or directory", null],
    ["ls: cannot access 'x': No such file or directory", null],
    ["cat: /etc/shadow: Permission denied", null],
    ["umount: /mnt: Device or resource busy", null],
    ["read ~/.ssh in /home/u/.ssh", null],
    ["curl: (6) Could not resolve host: example.com", null],
    ["1 test failed", null],
    ["", null],
  ] as const)("%j: %s", (output, kind) => {
    expect(findRefusal(`first line\n${output}\n`, policy, "bubblewrap")).toBe(kind);
  });

  test.each([
    "curl: (6) Could not resolve host: example.com",
    "ssh: Could not resolve hostname github.com: Temporary failure in name resolution",
    "npm error code EAI_AGAIN",
    "Error: getaddrinfo ENOTFOUND registry.example",
    "ping: connect: Network is unreachable",
    "dial tcp: lookup proxy.example: no such host",
    "socket.gaierror: [Errno -3] Temporary failure in name resolution",
  ])("without the network, %j", (output) => {
    expect(findRefusal(output, { ...policy, network: "off" }, "bubblewrap")).toBe("network");
    expect(findRefusal(output, policy, "bubblewrap")).toBe(null);
  });

  test("Seatbelt has one word for all that it refuses", () => {
    const output = "touch: /etc/x: Operation not permitted";
    expect(findRefusal(output, policy, "seatbelt")).toBe("write");
    expect(findRefusal(output, policy, "bubblewrap")).toBe(null);
  });
});
