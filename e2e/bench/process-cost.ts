import { readFileSync } from 'node:fs';

/** Clock ticks per second of /proc/<pid>/stat on Linux, whatever the kernel's own timer. */
const TICKS_PER_SECOND = 100;

/** CPU time the process has used so far, user and system, in microseconds (to 10 ms). */
export function cpuMicroseconds(pid: number): number {
  const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
  // The program's name, in parentheses, may hold spaces; the fields behind it are fixed.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1_000_000;
}

/** Resident memory now and at its highest so far, in MB. */
export function memoryMegabytes(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  const field = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'mu').exec(status)?.[1]) / 1024;
  return { now: field('VmRSS'), peak: field('VmHWM') };
}
