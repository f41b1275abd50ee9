import { setTimeout as sleep } from 'node:timers/promises';
import type { Exchange, Stage } from '../apiserver/engine/request/exchange';
import { StatusError } from '../shared/errors/status-error';
import { defined } from '../shared/defined';
import { NAMESPACE, SERVICE_ACCOUNT, USER } from '../shared/names';
import type { FaultTarget, Faults } from './types';
import { durationMs } from './plane-clock';

interface Fault extends FaultTarget {
  remaining: number;
  /** Delays or refuses a request. */
  readonly strike: (exchange: Exchange) => Promise<void>;
}

const WRITES_OF_EXISTING: ReadonlySet<string> = new Set(['update', 'patch']);
const NEWLINE = 0x0a;

/** The faults of one control plane, and the stage that injects them. */
export interface InjectedFaults extends Faults {
  readonly stage: Stage;
}

/** `expire` forgets the history of a resource in every API server. */
export function createFaults(expire: (resource: string) => void): InjectedFaults {
  const faults = new Set<Fault>();
  let cuts: Cut[] = [];
  const watches = new Set<CuttableWatch>();
  const add = (target: FaultTarget, strike: Fault['strike']): void => {
    faults.add({ ...target, remaining: target.times ?? Infinity, strike });
  };
  return {
    async stage(exchange, next) {
      if (isOwn(exchange)) {
        await next();
        return;
      }
      for (const fault of faults) {
        if (!concerns(fault, exchange)) continue;
        fault.remaining -= 1;
        if (fault.remaining <= 0) faults.delete(fault);
        await fault.strike(exchange);
      }
      await next();
      const { answer, info } = exchange;
      if (info.verb !== 'watch' || answer?.messages !== 'lines' || Buffer.isBuffer(answer.body)) return;
      const watch = new CuttableWatch(info.resource, exchange.user.name);
      for (const cut of cuts) if (strikes(cut, watch)) break;
      exchange.answer = { ...answer, body: cuttable(answer.body, watch, watches) };
    },
    cutWatches: ({ after = 0, times = Infinity, ...target } = {}) => {
      const cut = { after, remaining: times, ...target };
      cuts = [cut, ...cuts];
      for (const watch of watches) strikes(cut, watch);
    },
    expire,
    conflict: (resource, times = 1, { user } = {}) => {
      const strike = ({ info }: Exchange): Promise<void> => {
        const why =
          'the object has been modified; please apply your changes to the latest version and try again';
        const kind = info.apiGroup === '' ? info.resource : `${info.resource}.${info.apiGroup}`;
        throw new StatusError('Conflict', `Operation cannot be fulfilled on ${kind} "${info.name}": ${why}`, {
          details: { name: info.name, group: info.apiGroup, kind: info.resource },
        });
      };
      faults.add({ ...defined({ user }), resource, remaining: times, verb: 'update or patch', strike });
    },
    delay: (duration, target = {}) => {
      const ms = durationMs(duration);
      add(target, async ({ signal }) => {
        // The signal of a request is no signal of the runtime.
        const over = new AbortController();
        signal.addEventListener('abort', () => over.abort(), { once: true });
        await sleep(ms, undefined, { signal: over.signal, ref: false }).catch(() => undefined);
        signal.throwIfAborted();
      });
    },
    fail: (code, target = {}) => {
      add(target, () => {
        throw new StatusError('', 'a fault that the test injects', { code });
      });
    },
    clear: () => {
      faults.clear();
      cuts = [];
      for (const watch of watches) watch.cutAfter(Infinity);
    },
  };
}

/** Whether the request is one of the control plane itself, such as those of its controllers. */
function isOwn({ user }: Exchange): boolean {
  return (
    user.name === USER.controllerManager ||
    user.name === USER.apiServer ||
    user.groups.includes(`${SERVICE_ACCOUNT.groupPrefix}${NAMESPACE.system}`)
  );
}

function concerns({ resource, verb, user }: Fault, { info, user: { name } }: Exchange): boolean {
  if (user !== undefined && user !== name) return false;
  if (resource !== undefined && info.resource !== resource) return false;
  if (verb === 'update or patch') return WRITES_OF_EXISTING.has(info.verb);
  return verb === undefined || info.verb === verb;
}

interface Cut {
  /** How many more events a watch delivers. */
  readonly after: number;
  readonly resource?: string;
  readonly user?: string;
  /** How many more watches. */
  remaining: number;
}

/** Cuts the watch if the fault concerns it; returns whether it does. */
function strikes(cut: Cut, watch: CuttableWatch): boolean {
  const { resource, user } = watch;
  const isMeant = (cut.resource ?? resource) === resource && (cut.user ?? user) === user;
  if (!isMeant || cut.remaining <= 0) return false;
  cut.remaining -= 1;
  watch.cutAfter(cut.after);
  return true;
}

/** An open watch: how many events it may still deliver, and how a read that waits for the next one is broken. */
class CuttableWatch {
  readonly resource: string;
  readonly user: string;
  left = Infinity;
  interrupt: (error: Error) => void = () => undefined;

  constructor(resource: string, user: string) {
    this.resource = resource;
    this.user = user;
  }

  /** A watch that is cut stays so. */
  cutAfter(events: number): void {
    if (this.left === 0) return;
    this.left = events;
    if (events === 0) this.interrupt(cutError());
  }

  /** Takes the lines of the piece that may be delivered; undefined if none may. */
  take(piece: Buffer): Buffer | undefined {
    if (this.left === Infinity) return piece;
    let end = 0;
    while (this.left > 0 && end < piece.length) {
      const newline = piece.indexOf(NEWLINE, end);
      end = newline < 0 ? piece.length : newline + 1;
      this.left -= 1;
    }
    return end === 0 ? undefined : piece.subarray(0, end);
  }
}

function cutError(): Error {
  return new Error('a fault that the test injects cuts the watch');
}

/** The same stream, which breaks when its watch is cut. */
async function* cuttable(
  body: AsyncIterable<Buffer>,
  watch: CuttableWatch,
  watches: Set<CuttableWatch>,
): AsyncGenerator<Buffer> {
  const pieces = body[Symbol.asyncIterator]();
  watches.add(watch);
  try {
    while (watch.left > 0) {
      const step = await new Promise<IteratorResult<Buffer>>((resolve, reject) => {
        watch.interrupt = reject;
        pieces.next().then(resolve, reject);
      });
      if (step.done === true) return;
      const allowed = watch.take(step.value);
      if (allowed !== undefined) yield allowed;
    }
    throw cutError();
  } finally {
    watches.delete(watch);
    // Not awaited: a read that was interrupted ends only with the request, which ends when this stream breaks.
    void pieces.return?.();
  }
}
