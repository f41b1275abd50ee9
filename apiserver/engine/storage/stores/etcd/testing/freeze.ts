import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Stops a process, as a machine that hangs would, and resolves when all of its threads stand still. The signal reaches one of them, which
 * stops the others when it has its turn: on a busy machine they continue to answer for some time. Where there is no /proc it does not wait.
 */
export async function freeze(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  while (isRunning(pid)) await nextTurn();
}

function isRunning(pid: number): boolean {
  let threads: readonly string[];
  try {
    threads = readdirSync(`/proc/${String(pid)}/task`);
  } catch {
    return false;
  }
  return threads.some((thread) => stateOf(pid, thread) !== 'T');
}

/** The state letter after the program name, which is in parentheses. A thread that has ended counts as stopped. */
function stateOf(pid: number, thread: string): string {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/task/${thread}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
  } catch {
    return 'T';
  }
}
