import type { KmsService } from '../../storage/decorators/encryption/kms-service';
import { kmsChecks } from './kms-checks';

const NEVER = new AbortController().signal;

test('a check is numbered, holds for twenty seconds when all is well and for three when not', async () => {
  let now = 0;
  let calls = 0;
  let problem: string | undefined;
  const service: KmsService = {
    encrypt: async (plain) => {
      calls += 1;
      if (problem !== undefined) throw new Error(problem);
      return Promise.resolve(plain);
    },
    decrypt: async (cipher) => Promise.resolve(cipher),
    close: () => undefined,
  };
  const clock = { now: () => now };
  const [first, second] = kmsChecks(
    [
      { name: 'a', service },
      { name: 'b', service },
    ],
    clock,
  );
  expect([first?.name, second?.name]).toEqual(['kms-provider-0', 'kms-provider-1']);
  const results = await Promise.all([first?.check(NEVER), first?.check(NEVER)]);
  expect([results, calls]).toEqual([[undefined, undefined], 1]);
  problem = 'out of reach';
  now = 19_999;
  expect(await first?.check(NEVER)).toBeUndefined();
  now = 20_000;
  const failed =
    'failed to perform encrypt section of the healthz check for KMS Provider a, error: out of reach';
  expect([await first?.check(NEVER), calls]).toEqual([failed, 2]);
  problem = undefined;
  now = 22_999;
  expect([await first?.check(NEVER), calls]).toEqual([failed, 2]);
  now = 23_000;
  expect([await first?.check(NEVER), calls]).toEqual([undefined, 3]);
});
