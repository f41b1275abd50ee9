#!/usr/bin/env node
import { runCommands } from '../../shared/flags/run-commands';
import { ADMIN } from './commands';

runCommands(ADMIN);
