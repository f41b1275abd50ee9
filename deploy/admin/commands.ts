import { BACKUP_COMMANDS } from './backup/commands';
import { CERTS_COMMANDS } from './certs/commands';
import { CHECK_COMMAND } from './check/command';
import { CLUSTER_INFO_COMMAND } from './cluster-info';
import type { Command } from './command';
import { ETCD_COMMANDS } from './etcd/commands';
import { SMOKE_COMMAND } from './smoke';

/** All of them. One that is named by more words comes before one that is named by fewer of them. */
export const COMMANDS: readonly Command[] = [
  ...BACKUP_COMMANDS,
  ...CERTS_COMMANDS,
  CHECK_COMMAND,
  CLUSTER_INFO_COMMAND,
  SMOKE_COMMAND,
  ...ETCD_COMMANDS,
];
