import { createRandom } from '../../list-watch/chaos/seeded-random';
import type { Random } from '../../list-watch/chaos/seeded-random';
import type { ObjectOperation, ObjectState, ObjectVerb, Outcome } from '../record/operation';

export interface MadeAnswers {
  readonly seed: number;
  readonly clients: number;
  readonly operations: number;
  /** The share of requests without an answer; half of them take effect at some time. */
  readonly unknown: number;
  readonly verbs: readonly (readonly [weight: number, verb: ObjectVerb])[];
}

interface Request {
  readonly client: number;
  readonly verb: ObjectVerb;
  readonly invokedMs: number;
  readonly effectMs: number;
  readonly returnedMs: number;
  readonly isLost: boolean;
  readonly turn: string;
  readonly expected: ObjectState | undefined;
}

const REQUEST_MS = 20;
const LATE_MS = 2_000;

/** Generates the answers of one object to sequential clients. The order of effects explains them. */
export function madeAnswers({ seed, clients, operations, unknown, verbs }: MadeAnswers): ObjectOperation[] {
  const random = createRandom(seed);
  const object = new SingleObject();
  const known: (ObjectState | undefined)[] = [];
  let count = 0;
  const due: Request[] = [];
  // A client without an answer continues; the lost request may take effect later.
  const ask = (client: number, afterMs: number): void => {
    const drawn = random.weighted(verbs);
    const expected = drawn === 'guarded update' ? known[client] : undefined;
    const verb = drawn === 'guarded update' && expected === undefined ? 'get' : drawn;
    const isLost = random.next() < unknown;
    const invokedMs = afterMs + random.next();
    const effectMs = invokedMs + random.next() * (isLost ? LATE_MS : REQUEST_MS);
    const returnedMs = isLost ? Infinity : effectMs + random.next() * REQUEST_MS;
    due.push({ client, verb, invokedMs, effectMs, returnedMs, isLost, turn: String(++count), expected });
    if (isLost) ask(client, invokedMs + REQUEST_MS);
  };
  for (let client = 0; client < clients; client++) ask(client, 0);
  const answers: ObjectOperation[] = [];
  while (answers.length < operations) {
    due.sort((a, b) => a.effectMs - b.effectMs);
    const request = due.shift();
    if (request === undefined) break;
    const { client, isLost, returnedMs } = request;
    const answer = object.answer(request, random);
    if (answer !== undefined) answers.push(answer);
    if (answer?.verb === 'get') known[client] = object.state();
    if (!isLost) ask(client, returnedMs);
  }
  return answers;
}

class SingleObject {
  #turn: string | undefined;
  #version = 0;

  state(): ObjectState | undefined {
    return this.#turn === undefined ? undefined : { turn: this.#turn, version: this.#version };
  }

  /** Undefined without a response or effect. */
  answer(request: Request, random: Random): ObjectOperation | undefined {
    const { verb, invokedMs, returnedMs, isLost, turn, expected } = request;
    const isDeletion = verb === 'delete' || verb === 'deletecollection';
    const common = {
      key: 'configmaps/chaos-0/o0',
      replica: 0,
      verb,
      invokedMs,
      returnedMs,
      turn: isDeletion || verb === 'get' ? '' : turn,
      ...(expected === undefined ? {} : { expected }),
    };
    const hasEffect = !isLost || random.below(2) === 0;
    const outcome = this.#outcomeOf(verb, expected);
    if (isLost && isDeletion) {
      if (hasEffect && outcome === 'done') this.#turn = undefined;
      return { ...common, outcome: 'unknown' };
    }
    if (isLost && (!hasEffect || outcome !== 'done' || verb === 'get')) return undefined;
    if (outcome !== 'done') return { ...common, outcome };
    if (isDeletion) {
      this.#turn = undefined;
      this.#version++;
      return { ...common, outcome };
    }
    if (verb === 'get') return { ...common, outcome, seen: this.#turn ?? '', version: this.#version };
    this.#turn = turn;
    return { ...common, outcome, version: ++this.#version };
  }

  #outcomeOf(verb: ObjectVerb, expected: ObjectState | undefined): Outcome {
    if (verb === 'apply' || verb === 'deletecollection') return 'done';
    if (verb === 'create') return this.#turn === undefined ? 'done' : 'present';
    if (this.#turn === undefined) return 'absent';
    return verb === 'guarded update' && expected?.version !== this.#version ? 'conflict' : 'done';
  }
}
