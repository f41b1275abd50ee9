/**
 * Loaded into servers before their own code (`node --require`), by the checker alone: their wall clock is off by as many milliseconds
 * as the file says that is named by ORCH_ROBUSTNESS_CLOCK_FILE, read at the start and at every SIGUSR2. Monotonic clocks are left
 * alone, as a machine's are when its wall clock is set.
 */
import { readFileSync } from 'node:fs';

const RealDate = Date;
let offsetMs = readOffset();

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: unknown[], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
  get: (target, name, receiver) => (name === 'now' ? now : (Reflect.get(target, name, receiver) as unknown)),
});
process.on('SIGUSR2', () => {
  offsetMs = readOffset();
});

function now(): number {
  return RealDate.now() + offsetMs;
}

function readOffset(): number {
  try {
    return Number(readFileSync(process.env['ORCH_ROBUSTNESS_CLOCK_FILE'] ?? '', 'utf8'));
  } catch {
    return 0;
  }
}
