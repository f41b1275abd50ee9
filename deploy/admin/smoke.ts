import { RESOURCE } from '../../shared/api/resource-names';
import { randomUUID } from 'node:crypto';
import type { Client } from '../../shared/client/client';
import type { FlagRow, FlagValues } from '../../shared/flags/flag-row';
import { NAMESPACE } from '../../shared/names';
import {
  hasKubeconfig,
  KUBECONFIG_REQUIRED,
  kubeconfigFlag,
  readClientOptions,
  withClient,
} from './api-server';
import type { Command } from '../../shared/flags/command';
import { parsedCommand } from '../../shared/flags/command';
import { OUTPUT_FLAG, createOutcome } from './output';

const FLAGS = [
  kubeconfigFlag('Generic', 'with the address of the API servers and the credentials'),
  {
    name: 'timeout',
    type: 'duration',
    default: '1m0s',
    group: 'Generic',
    help: 'How long all steps together may take.',
  },
  OUTPUT_FLAG,
] as const satisfies readonly FlagRow[];

/** A first check of a control plane that was just installed. */
export const SMOKE_COMMAND: Command = parsedCommand({
  name: ['smoke'],
  group: 'Control plane',
  summary: 'Lists, writes and watches by the API servers, and leaves nothing there.',
  flags: FLAGS,
  run: async ({ kubeconfig, timeoutMs, output }: FlagValues<typeof FLAGS>) => {
    if (!hasKubeconfig(kubeconfig)) return { errors: [KUBECONFIG_REQUIRED] };
    return withClient(readClientOptions(kubeconfig), async (client) => {
      const lines = await smoke(client, AbortSignal.timeout(timeoutMs));
      return createOutcome(output, { json: { steps: lines }, lines, code: 0 });
    });
  },
});

/** Writes one object three times, and waits for each of the writes in a watch that began before them. */
async function smoke(client: Client, signal: AbortSignal): Promise<readonly string[]> {
  const ref = { namespace: NAMESPACE.default, name: `orch-smoke-${randomUUID()}` };
  const selection = { namespace: ref.namespace, fieldSelector: `metadata.name=${ref.name}` };
  const before = await client.list(RESOURCE.configmaps, { ...selection, signal });
  const { resourceVersion } = before.metadata;
  const watch = client.watch(RESOURCE.configmaps, { ...selection, resourceVersion, signal });
  const events = watch[Symbol.asyncIterator]();
  const lines = ['listed'];
  const expectEvent = async (type: string): Promise<void> => {
    const { value, done } = await events.next();
    if (done === true || value.type !== type || value.object.metadata.name !== ref.name)
      throw new Error(
        `the watch should deliver ${type} of ${ref.name}, and delivered ${JSON.stringify(value)}`,
      );
    lines.push(`watched ${type}`);
  };
  try {
    const made = await client.create(
      RESOURCE.configmaps,
      { metadata: ref, data: { step: 'created' } },
      { signal },
    );
    await expectEvent('ADDED');
    await client.update(RESOURCE.configmaps, { ...made, data: { step: 'updated' } }, { signal });
    await expectEvent('MODIFIED');
    await client.delete(RESOURCE.configmaps, ref, {}, { signal });
    await expectEvent('DELETED');
    return lines;
  } catch (error) {
    await client.delete(RESOURCE.configmaps, ref).catch(() => undefined);
    throw error;
  } finally {
    await events.return?.(undefined);
  }
}
