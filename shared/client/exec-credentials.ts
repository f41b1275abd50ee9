import type { Clock } from '../concurrency/clock';
import { systemClock } from '../concurrency/clock';
import { untilAborted } from '../concurrency/abort';
import type { ExecCredential, ExecPlugin } from './exec-plugin';
import { runExecPlugin } from './exec-plugin';

/** The credentials of a plugin, which is run when they are first needed, when they have ended, and after they were refused. */
export interface ExecCredentials {
  /** Throws ExecPluginError; the next call then runs the plugin again. */
  current(signal?: AbortSignal): Promise<ExecCredential>;
  /** The server did not take them: the next ones are to be others. */
  refused(credential: ExecCredential): void;
}

const known = new WeakMap<ExecPlugin, ExecCredentials>();

/** Those of this plugin, which all of its users share: it never runs twice at once. */
export function execCredentialsOf(plugin: ExecPlugin): ExecCredentials {
  const found = known.get(plugin) ?? createExecCredentials(async () => runExecPlugin(plugin));
  known.set(plugin, found);
  return found;
}

export function createExecCredentials(
  run: () => Promise<ExecCredential>,
  clock: Clock = systemClock,
): ExecCredentials {
  let held: ExecCredential | undefined;
  let running: Promise<ExecCredential> | undefined;
  const renew = async (): Promise<ExecCredential> => {
    try {
      held = await run();
      return held;
    } finally {
      running = undefined;
    }
  };
  return {
    current: async (signal) => {
      if (held !== undefined && clock.now() < held.expiresAtMs) return held;
      running ??= renew();
      return signal === undefined ? running : untilAborted(running, signal);
    },
    refused: (credential) => {
      if (credential === held) held = undefined;
    },
  };
}
