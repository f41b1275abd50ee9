#!/usr/bin/env node
import { runCommands } from '../shared/flags/run-commands';
import { ENVTEST_COMMAND, KUBE_APISERVER } from './envtest/command';
import { runKubeApiserver } from './envtest/kube-apiserver';
import { SERVE_COMMAND } from './serve/command';

const [name, ...words] = process.argv.slice(2);

// One bundle is both programs, because each is as large as the API server. The command is for the script of `orch envtest` alone.
if (name === KUBE_APISERVER) runKubeApiserver(words);
else {
  runCommands({
    name: 'orch',
    summary: 'Control planes for tests and tools.',
    commands: [ENVTEST_COMMAND, SERVE_COMMAND],
  });
}
