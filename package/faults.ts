import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Exchange, Stage } from '../apiserver/engine/request/exchange';
import { StatusError } from '../shared/errors/status-error';
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
  let cuts: { readonly after: number; readonly resource?: string }[] = [];
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
      const cut = cuts.find(({ resource }) => resource === undefined || resource === exchange.info.resource);
      if (cut !== undefined && exchange.info.verb === 'watch' && exchange.answer?.messages !== undefined)
        exchange.answer = cutAfter(cut.after, exchange.answer);
    },
    cutWatches: ({ after = 0, ...target } = {}) => {
      cuts = [{ after, ...target }, ...cuts];
    },
    expire,
    conflict: (resource, times = 1) => {
      const strike = ({ info }: Exchange): Promise<void> => {
        const why =
          'the object has been modified; please apply your changes to the latest version and try again';
        const kind = info.apiGroup === '' ? info.resource : `${info.resource}.${info.apiGroup}`;
        throw new StatusError('Conflict', `Operation cannot be fulfilled on ${kind} "${info.name}": ${why}`, {
          details: { name: info.name, group: info.apiGroup, kind: info.resource },
        });
      };
      faults.add({ resource, remaining: times, verb: 'update or patch', strike });
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

function concerns({ resource, verb }: Fault, { info }: Exchange): boolean {
  if (resource !== undefined && info.resource !== resource) return false;
  if (verb === 'update or patch') return WRITES_OF_EXISTING.has(info.verb);
  return verb === undefined || info.verb === verb;
}

/** The same answer, whose stream breaks after so many events. */
function cutAfter(events: number, answer: Answer): Answer {
  if (Buffer.isBuffer(answer.body) || answer.messages !== 'lines') return answer;
  return { ...answer, body: breaking(answer.body, events) };
}

async function* breaking(body: AsyncIterable<Buffer>, events: number): AsyncGenerator<Buffer> {
  let left = events;
  for await (const piece of body) {
    let end = 0;
    while (left > 0 && end < piece.length) {
      const newline = piece.indexOf(NEWLINE, end);
      end = newline < 0 ? piece.length : newline + 1;
      left -= 1;
    }
    if (end > 0) yield piece.subarray(0, end);
    if (left === 0) throw new Error('a fault that the test injects cuts the watch');
  }
}
