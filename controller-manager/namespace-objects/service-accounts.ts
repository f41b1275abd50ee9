import type { ServiceAccount } from '../../shared/api/types/core-v1';
import type { ResourceOf } from '../../shared/object/object';
import { GROUP } from '../../shared/names';
import type { ControllerContext } from '../runtime/controller';
import { keepInEveryNamespace } from './keep-in-every-namespace';

const SERVICE_ACCOUNTS: ResourceOf<ServiceAccount> = {
  group: GROUP.core,
  version: 'v1',
  resource: 'serviceaccounts',
};
const DEFAULT_ACCOUNT = 'default';

/** Makes the account that pods run as that name none, in every namespace, and again when it is deleted. */
export async function runServiceAccounts(context: ControllerContext, signal: AbortSignal): Promise<void> {
  await keepInEveryNamespace(
    context,
    {
      resource: SERVICE_ACCOUNTS,
      name: DEFAULT_ACCOUNT,
      objectIn: (namespace) => ({ metadata: { namespace, name: DEFAULT_ACCOUNT } }),
      corrected: () => undefined,
    },
    signal,
  );
}
