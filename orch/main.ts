#!/usr/bin/env node
// It must be evaluated before all others.
export { DEFAULT_DIALECT } from './default-dialect';
import { runCommands } from '../shared/flags/run-commands';
import { ENVTEST_COMMAND } from './envtest/command';
import { SERVE_COMMAND } from './serve/command';

runCommands({
  name: 'orch',
  summary: 'Control planes for tests and tools.',
  commands: [ENVTEST_COMMAND, SERVE_COMMAND],
});
