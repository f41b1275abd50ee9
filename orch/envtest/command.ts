import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { selectControllers } from '../../controller-manager/controllers';
import { writeFileAtomically } from '../../shared/files/atomic-file';
import { makeDirectory } from '../../shared/files/make-directory';
import type { Command } from '../../shared/flags/command';
import { parsedCommand } from '../../shared/flags/command';

/**
 * The controllers that suites written for kube-apiserver and etcd alone do not notice, except that namespaces end and that objects go
 * with their owner.
 */
const CONTROLLERS = ['namespace', 'garbagecollector'] as const;
/** The first word with which `orch` is the kube-apiserver of envtest. */
export const KUBE_APISERVER = 'kube-apiserver';
/** Half of the default young generation saves memory at rest. */
const NODE_FLAGS = ['--max-semi-space-size=8'] as const;
const EXECUTABLE_MODE = 0o755;
const DIRECTORY_MODE = 0o700;
const NAME_CHARS = 16;

/** Writes the programs that envtest starts, and prints their directory. */
export const ENVTEST_COMMAND: Command = parsedCommand({
  name: ['envtest'],
  group: 'Test',
  summary:
    'Prints a directory for KUBEBUILDER_ASSETS with a kube-apiserver, an etcd and a kubectl, for envtest and whatever starts these programs.',
  flags: [
    {
      name: 'controllers',
      type: 'stringList',
      default: CONTROLLERS,
      group: 'Controllers',
      help: 'The controllers that run beside the API server, as --controllers of orch-controller-manager has them: * for all. If empty, none runs.',
    },
    {
      name: 'real-etcd',
      type: 'bool',
      default: false,
      group: 'Programs',
      help: 'Uses the etcd of PATH instead of the embedded store, for suites that use etcd themselves.',
    },
    {
      name: 'directory',
      type: 'string',
      default: '',
      group: 'Programs',
      help: 'Where to write the programs. If empty, a directory below $XDG_CACHE_HOME, or ~/.cache.',
    },
  ],
  run: async ({ controllers, realEtcd, directory }) => {
    const words = controllers.filter((word) => word !== '');
    const { unknown } = selectControllers(words);
    if (unknown.length > 0) {
      return { errors: unknown.map((name) => `--controllers: there is no controller named "${name}"`) };
    }
    const programs = createPrograms(words, realEtcd);
    const where = directory === '' ? defaultDirectory(programs) : path.resolve(directory);
    makeDirectory(where, DIRECTORY_MODE);
    for (const [name, text] of Object.entries(programs)) {
      writeFileAtomically(path.join(where, name), text, EXECUTABLE_MODE);
    }
    return Promise.resolve({ lines: [where], code: 0 });
  },
});

/** The path of a program that `npm run build` bundles. This file runs from `dist/orch/envtest`, or from a bundle in `dist/bin`. */
function bundledProgram(name: string): string {
  return path.join(__dirname, '..', 'bin', `${name}.js`);
}

type Programs = Readonly<Record<'kube-apiserver' | 'etcd' | 'kubectl', string>>;

/** The text of each program. They are scripts, so that Node and this package are not copied. */
function createPrograms(controllers: readonly string[], isRealEtcd: boolean): Programs {
  const node = [process.execPath, ...NODE_FLAGS];
  return {
    'kube-apiserver': script(
      // The dialect is chosen before the first module is loaded.
      'ORCH_DIALECT=kubernetes',
      [...node, bundledProgram('orch'), KUBE_APISERVER, `--controllers=${controllers.join(',')}`, '--'],
    ),
    etcd: isRealEtcd ? script('', [find('etcd')]) : script('', [...node, bundledProgram('envtest-etcd')]),
    kubectl: KUBECTL,
  };
}

/** A name of its own for each content, so that suites with different options run side by side. */
function defaultDirectory(programs: Programs): string {
  const cache = process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache');
  const name = createHash('sha256').update(JSON.stringify(programs)).digest('hex').slice(0, NAME_CHARS);
  return path.join(cache, 'orch', 'envtest', name);
}

function script(environment: string, command: readonly string[]): string {
  return `#!/bin/sh\n${environment === '' ? '' : `export ${environment}\n`}exec ${command.map(quote).join(' ')} "$@"\n`;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** The first kubectl of PATH that is not this script itself, looked up when it is called. */
const KUBECTL = `#!/bin/sh
own=$(dirname "$0")
IFS=:
for directory in $PATH; do
  if [ -x "$directory/kubectl" ] && ! [ "$directory" -ef "$own" ]; then
    exec "$directory/kubectl" "$@"
  fi
done
echo 'kubectl: not found on PATH' >&2
exit 127
`;

/** The path of a program on PATH. Throws an Error if there is none. */
function find(name: string): string {
  for (const directory of (process.env['PATH'] ?? '').split(path.delimiter)) {
    const file = path.join(directory, name);
    if (directory !== '' && existsSync(file) && isExecutable(file)) return file;
  }
  throw new Error(`${name} is not on PATH`);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
