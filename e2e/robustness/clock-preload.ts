/**
 * Loaded into servers before their own code (`node --require`), by the checker only. It shifts the wall clock by the milliseconds in the
 * file ORCH_ROBUSTNESS_CLOCK_FILE, which it reads at start and at every SIGUSR2. Monotonic clocks do not change, as on a machine
 * whose wall clock is set.
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
