import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Command } from '../../../shared/flags/command';
import { parsedCommand } from '../../../shared/flags/command';
import {
  hasKubeconfig,
  KUBECONFIG_REQUIRED,
  kubeconfigFlag,
  readClientOptions,
  withClient,
} from '../api-server';
import type { ExportReport } from './export-objects';
import { exportObjects } from './export-objects';
import { assertEmpty, importObjects } from './import-objects';
import { FILE_BEGIN, FILE_END, FILE_SEPARATOR, readObjects } from './object-files';

const GROUP = 'Objects';
const KUBECONFIG = kubeconfigFlag('Generic', 'with the address of the API servers and the credentials');
/** It holds every Secret. */
const FILE_MODE = 0o600;
const REFUSED_SHOWN_MAX = 20;

/** The commands that move the objects of a control plane. */
export const TRANSFER_COMMANDS: readonly Command[] = [
  parsedCommand({
    name: ['export'],
    group: GROUP,
    summary:
      'Writes all objects of a Kubernetes server to a file, as `kubectl get -o json` does, with one object on each line.',
    flags: [
      KUBECONFIG,
      {
        name: 'file',
        type: 'string',
        default: '',
        group: 'File',
        help: 'The file to write; it gets its name once it is whole. If empty, standard output.',
      },
      {
        name: 'page-size',
        type: 'int',
        default: 500,
        min: 1,
        max: 10_000,
        group: 'Generic',
        help: 'The number of objects of one request.',
      },
    ],
    run: async ({ kubeconfig, file, pageSize }) => {
      if (!hasKubeconfig(kubeconfig)) return { errors: [KUBECONFIG_REQUIRED] };
      return withClient(readClientOptions(kubeconfig), async (client) => {
        let report: ExportReport = { objects: 0, skipped: [] };
        const lines = exportObjects(client, { pageObjects: pageSize }, (each) => {
          report = each;
        });
        await write(lines, file);
        for (const each of report.skipped) process.stderr.write(`not exported: ${each}\n`);
        return { lines: file === '' ? [] : [`exported ${String(report.objects)} objects`], code: 0 };
      });
    },
  }),
  parsedCommand({
    name: ['import'],
    group: GROUP,
    summary:
      'Stores the objects of an export, or of manifests, in the empty store of an orch server, with their uids, times and status.',
    flags: [
      KUBECONFIG,
      {
        name: 'file',
        type: 'string',
        default: '',
        group: 'File',
        help: 'The file of an export, what kubectl get -o yaml or -o json has printed, or a folder of manifests.',
      },
      {
        name: 'replace',
        type: 'bool',
        default: false,
        group: 'Generic',
        help: 'Import into a store that has objects; those of the same name are replaced.',
      },
    ],
    run: async ({ kubeconfig, file, replace }) => {
      if (!hasKubeconfig(kubeconfig)) return { errors: [KUBECONFIG_REQUIRED] };
      if (file === '') return { errors: ['--file is required'] };
      return withClient(readClientOptions(kubeconfig), async (client) => {
        if (!replace) await assertEmpty(client);
        const { stored, refused } = await importObjects(client, readObjects(file));
        return {
          lines: [
            `stored ${String(stored)} objects`,
            ...(refused.length === 0 ? [] : [`refused ${String(refused.length)} objects:`]),
            ...refused.slice(0, REFUSED_SHOWN_MAX).map((reason) => `  ${reason}`),
            ...(refused.length > REFUSED_SHOWN_MAX ? ['  …'] : []),
          ],
          code: refused.length === 0 ? 0 : 1,
        };
      });
    },
  }),
];

/** Writes the list as its lines come, and no faster than the file accepts them. */
async function write(lines: AsyncIterable<string>, file: string): Promise<void> {
  if (file === '') {
    await pipeline(listOf(lines), process.stdout, { end: false });
    return;
  }
  const part = `${file}.part`;
  try {
    await pipeline(listOf(lines), createWriteStream(part, { mode: FILE_MODE }));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function* listOf(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let before = FILE_BEGIN;
  for await (const line of lines) {
    yield before + line;
    before = FILE_SEPARATOR;
  }
  yield before === FILE_BEGIN ? FILE_BEGIN + FILE_END : FILE_END;
}
