import { LoopTurns, Slices } from './slices';

let now: number;
let turns: LoopTurns;
/** Counts the turns of the event loop. */
let turn: number;
beforeEach(() => {
  now = 0;
  turn = 0;
  turns = new LoopTurns(() => now);
});

/** Two are less than a turn, and three are more. */
const STEP_MS = 0.4;

/** Works for so many steps in all, one at a time, and notes in which turn each of them was. */
async function work(steps: number, workedIn: number[]): Promise<void> {
  const slices = new Slices({ turns });
  for (let worked = 0; worked < steps; worked += 1) {
    if (slices.due()) await slices.pause();
    now += STEP_MS;
    workedIn.push(turn);
  }
}

async function countTurns(whole: () => Promise<unknown>): Promise<void> {
  let isOver = false;
  const next = (): void => {
    if (isOver) return;
    turn += 1;
    setImmediate(next);
  };
  setImmediate(next);
  await whole();
  isOver = true;
}

test('many concurrent tasks hold the loop no longer than one', async () => {
  const workedIn: number[] = [];
  await countTurns(async () => Promise.all(Array.from({ length: 10 }, async () => work(10, workedIn))));
  const perTurn = new Map<number, number>();
  for (const each of workedIn) perTurn.set(each, (perTurn.get(each) ?? 0) + 1);
  expect(workedIn).toHaveLength(100);
  expect(Math.max(...perTurn.values())).toBeLessThanOrEqual(3);
  expect(perTurn.size).toBeLessThan(60);
});

test('waiting tasks continue in order, urgent ones first, and several in one turn when they need little', async () => {
  const order: string[] = [];
  const goOn = async (name: string, steps: number, isUrgent = false): Promise<void> => {
    await new Slices({ turns, isUrgent }).pause();
    now += steps * STEP_MS;
    order.push(`${name}${String(turn)}`);
  };
  await countTurns(async () => Promise.all([goOn('a', 1), goOn('b', 2), goOn('c', 1), goOn('u', 0, true)]));
  expect(order).toEqual(['u1', 'a1', 'b1', 'c2']);
});

test('a task that has just begun continues before tasks that have paused before, however many of these wait', async () => {
  const order: string[] = [];
  await countTurns(async () => {
    const long = Array.from({ length: 5 }, async (_slices, at) => {
      const slices = new Slices({ turns });
      for (let pause = 0; pause < 2; pause += 1) {
        await slices.pause();
        now += 2 * STEP_MS;
        order.push(`long${String(at)}`);
      }
    });
    // All of them wait for the second time.
    while (order.length < 5) await new Promise(setImmediate);
    const begun = (async (): Promise<void> => {
      await new Slices({ turns }).pause();
      order.push('begun');
    })();
    await Promise.all([...long, begun]);
  });
  expect(order.slice(5, 7)).toContain('begun');
});

test('urgent work that never ends leaves others a turn now and then', async () => {
  const urgent: number[] = [];
  const other: number[] = [];
  const slices = new Slices({ turns, isUrgent: true });
  await countTurns(async () =>
    Promise.all([
      (async (): Promise<void> => {
        while (other.length < 20) {
          if (slices.due()) await slices.pause();
          now += STEP_MS;
          urgent.push(turn);
        }
      })(),
      work(20, other),
    ]),
  );
  expect(other).toHaveLength(20);
  expect(urgent.length).toBeGreaterThan(30);
  expect(urgent.length).toBeLessThan(100);
});

test('time that is spent waiting for something else does not count', async () => {
  const slices = new Slices({ turns });
  expect(slices.due()).toBe(false);
  now += 5;
  expect(slices.due()).toBe(true);
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect(slices.due()).toBe(false);
});

test('steps too short to be timed one by one give the loop its turn after a few', async () => {
  const workedIn: number[] = [];
  await countTurns(async () => {
    const slices = new Slices({ turns });
    for (let worked = 0; worked < 100; worked += 1) {
      if (slices.dueAfterSteps()) await slices.pause();
      now += STEP_MS / 10;
      workedIn.push(turn);
    }
  });
  const inOneTurn = Math.max(...workedIn.map((each) => workedIn.filter((other) => other === each).length));
  // A turn is 25 of these steps, and ends at the next look, of which there is one in 16.
  expect(inOneTurn).toBeLessThanOrEqual(48);
  expect(new Set(workedIn).size).toBeGreaterThan(1);
});
