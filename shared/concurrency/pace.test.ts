import { Pace } from './pace';

test('after a long step others have their turn before the next one, which is not long because of it', async () => {
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
  const pace = new Pace();
  clock.mockReturnValue(2);
  expect(pace.isDue).toBe(false);
  clock.mockReturnValue(3);
  expect(pace.isDue).toBe(true);
  let hadTurn = false;
  setImmediate(() => {
    hadTurn = true;
  });
  await pace.rest();
  expect(hadTurn).toBe(true);
  expect(pace.isDue).toBe(false);
  clock.mockRestore();
});
