import { BACKUP_COMMANDS } from './backup/commands';
import { CERTS_COMMANDS } from './certs/commands';
import { CHECK_COMMAND } from './check/command';
import { BINDINGS_COMMAND, CLUSTER_INFO_COMMAND } from './cluster-info';
import type { Command } from '../../shared/flags/command';
import type { CommandProgram } from '../../shared/flags/read-invocation';
import { ETCD_COMMANDS } from './etcd/commands';
import { SMOKE_COMMAND } from './smoke';
import { TRANSFER_COMMANDS } from './transfer/commands';

const COMMANDS: readonly Command[] = [
  ...BACKUP_COMMANDS,
  ...CERTS_COMMANDS,
  BINDINGS_COMMAND,
  CHECK_COMMAND,
  CLUSTER_INFO_COMMAND,
  SMOKE_COMMAND,
  ...TRANSFER_COMMANDS,
  ...ETCD_COMMANDS,
];

export const ADMIN: CommandProgram = {
  name: 'orch-admin',
  summary: 'Looks after what a control plane stands on.',
  commands: COMMANDS,
};
