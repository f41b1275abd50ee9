import { StreamTurns } from './stream-turns';

interface Bench {
  readonly turns: StreamTurns<object>;
  readonly begun: string[];
  /** Lets the event loop turn once. */
  readonly turn: () => void;
  readonly add: (connection: object, name: string) => { begin(): void };
}

function open(perTurn: number): Bench {
  const callbacks: (() => void)[] = [];
  const begun: string[] = [];
  const turns = new StreamTurns<object>({ perTurn, nextTurn: (callback) => void callbacks.push(callback) });
  return {
    turns,
    begun,
    turn: () => {
      for (const callback of callbacks.splice(0)) callback();
    },
    add: (connection, name) => {
      const request = { begin: () => void begun.push(name) };
      turns.add(connection, request);
      return request;
    },
  };
}

test('the first request of a connection starts at once, however many wait on others', () => {
  const { add, begun } = open(1);
  const [many, one] = [{}, {}];
  for (const name of ['a1', 'a2', 'a3']) add(many, name);
  add(one, 'b1');
  expect(begun).toEqual(['a1', 'b1']);
});

test('the next one starts at once in a later turn, if none waits before it', () => {
  const { add, begun, turn } = open(1);
  const connection = {};
  add(connection, 'a1');
  turn();
  add(connection, 'a2');
  expect(begun).toEqual(['a1', 'a2']);
});

test('waiting requests of a connection start a few per turn, in order', () => {
  const { add, begun, turn, turns } = open(2);
  const connection = {};
  for (let at = 1; at <= 6; at += 1) add(connection, String(at));
  expect(begun).toEqual(['1']);
  turn();
  expect(begun).toEqual(['1', '2', '3']);
  add(connection, '7');
  expect(begun).toHaveLength(3);
  turn();
  turn();
  expect(begun).toEqual(['1', '2', '3', '4', '5', '6', '7']);
  expect(turns.size).toBe(0);
});

test('connections take turns', () => {
  const { add, begun, turn } = open(3);
  const [a, b, c] = [{}, {}, {}];
  for (const at of [0, 1, 2, 3]) add(a, `a${String(at)}`);
  for (const at of [0, 1]) add(b, `b${String(at)}`);
  for (const at of [0, 1]) add(c, `c${String(at)}`);
  begun.splice(0);
  turn();
  expect(begun).toEqual(['a1', 'b1', 'c1']);
  turn();
  expect(begun.slice(3)).toEqual(['a2', 'a3']);
});

test('a removed request is never started and blocks no other', () => {
  const { add, begun, turn, turns } = open(8);
  const connection = {};
  const first = add(connection, '1');
  const [second] = ['2', '3'].map((name) => add(connection, name));
  expect(turns.remove(connection, first)).toBe(false);
  expect(second === undefined ? undefined : turns.remove(connection, second)).toBe(true);
  expect(turns.size).toBe(1);
  turn();
  expect(begun).toEqual(['1', '3']);
});

test('a request that removes others when it starts does not start them', () => {
  const { turns, add, begun, turn } = open(8);
  const connection = {};
  add(connection, '1');
  turns.add(connection, { begin: () => void turns.remove(connection, last) });
  const last = add(connection, '3');
  turn();
  expect(begun).toEqual(['1']);
  expect(turns.size).toBe(0);
});
