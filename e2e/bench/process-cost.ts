import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/** Clock ticks per second of /proc/<pid>/stat on Linux, whatever the kernel's own timer. */
const TICKS_PER_SECOND = 100;

/** CPU time the process has used so far, user and system, in microseconds (to 10 ms). */
export function cpuMicroseconds(pid: number): number {
  const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
  // The program's name, in parentheses, may hold spaces; the fields behind it are fixed.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1_000_000;
}

/** Resident memory now and at its highest since the start or since {@link forgetPeak}, in MB. */
export function memoryMegabytes(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  const field = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'mu').exec(status)?.[1]) / 1024;
  return { now: field('VmRSS'), peak: field('VmHWM') };
}

/** Lets the highest resident memory begin anew at what it is now. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${String(pid)}/clear_refs`, '5');
}

/**
 * Lets a process, with the threads it has now, go before others on a busy machine, so that its figures are its own and not its
 * neighbours'. Returns whether the system allowed it.
 */
export function preferProcess(pid: number): boolean {
  try {
    for (const thread of readdirSync(`/proc/${String(pid)}/task`)) {
      setPriority(Number(thread), constants.priority.PRIORITY_HIGHEST);
    }
    return true;
  } catch {
    return false;
  }
}
