import { once, setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { AttackLoad, AttackResult } from '../messages';
import { ATTACKS } from './attacks';
import { Victim } from './victim';

/** The pause after a broken connection: a tight loop of refused ones would load the attacker's machine only. */
const BROKEN_PAUSE_MS = 20;

/** Prepares the attack and sends `ready`; begins at the message `go`, and ends at `stop` with the counted codes. */
export async function runAttack({ name, target, dir }: AttackLoad): Promise<AttackResult> {
  const attack = ATTACKS.find((each) => each.name === name);
  if (attack === undefined) throw new Error(`There is no attack “${name}”.`);
  const victim = new Victim(target, dir);
  await attack.prepare?.(victim);
  process.send?.('ready');
  await untilWord('go');
  const stop = new AbortController();
  // Each request in flight listens to it.
  setMaxListeners(0, stop.signal);
  const rounds = Array.from({ length: attack.atOnce ?? 1 }, async () => {
    while (!stop.signal.aborted) {
      await attack.round(victim, stop.signal).catch(async () => {
        victim.count(0);
        await delay(BROKEN_PAUSE_MS);
      });
    }
  });
  await untilWord('stop');
  stop.abort();
  await Promise.all(rounds);
  victim.close();
  return { codes: [...victim.codes] };
}

async function untilWord(word: string): Promise<void> {
  for (;;) {
    const [came] = (await once(process, 'message')) as [unknown];
    if (came === word) return;
  }
}
