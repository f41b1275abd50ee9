import { Pace } from './pace';

function holdTheLoop(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('after a long step others have their turn before the next one, which is not long because of it', async () => {
  const pace = new Pace();
  holdTheLoop(15);
  expect(pace.isDue).toBe(true);
  let hadTurn = false;
  setImmediate(() => {
    hadTurn = true;
  });
  await pace.rest();
  expect(hadTurn).toBe(true);
  expect(pace.isDue).toBe(false);
});
