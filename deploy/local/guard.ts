import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';

/**
 * Makes sure that `pid` and its process group die with this process, however it ends (also by kill -9): a shell outside our
 * process group reads the list of process ids from a pipe and kills them when the pipe breaks.
 */
export function guardProcess(pid: number): void {
  guard ??= startGuard();
  guard.stdin?.write(`+ ${String(pid)}\n`);
}

/** Removes an ended process from the list before its id is reused. */
export function releaseProcess(pid: number): void {
  guard?.stdin?.write(`- ${String(pid)}\n`);
}

const GUARD_SCRIPT = `
pids=""
while read -r change pid; do
  if [ "$change" = + ]; then pids="$pids $pid"; continue; fi
  kept=""
  for one in $pids; do [ "$one" = "$pid" ] || kept="$kept $one"; done
  pids="$kept"
done
for one in $pids; do kill -s KILL -- "-$one" 2>/dev/null || kill -s KILL "$one" 2>/dev/null; done
`;

let guard: ChildProcess | undefined;

function startGuard(): ChildProcess {
  const child = spawn('sh', ['-c', GUARD_SCRIPT], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  child.unref();
  child.stdin.on('error', () => undefined);
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
  return child;
}
