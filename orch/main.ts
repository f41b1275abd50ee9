#!/usr/bin/env node
import { runCommands } from '../shared/flags/run-commands';
import { ENVTEST_COMMAND } from './envtest/command';

runCommands({
  name: 'orch',
  summary: 'Control planes for tests and tools.',
  commands: [ENVTEST_COMMAND],
});
