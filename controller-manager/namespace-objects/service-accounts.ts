import type { ApiObject } from '../../shared/object/object';
import { GROUP } from '../../shared/names';
import type { ControllerContext } from '../runtime/controller';
import { keepInEveryNamespace } from './keep-in-every-namespace';

const SERVICE_ACCOUNTS = { group: GROUP.core, version: 'v1', resource: 'serviceaccounts' } as const;
const DEFAULT_ACCOUNT = 'default';

/** Makes the account that pods run as that name none, in every namespace, and again when it is deleted. */
export async function runServiceAccounts(context: ControllerContext, signal: AbortSignal): Promise<void> {
  await keepInEveryNamespace(
    context,
    {
      resource: SERVICE_ACCOUNTS,
      name: DEFAULT_ACCOUNT,
      objectIn: (namespace): ApiObject => ({ metadata: { namespace, name: DEFAULT_ACCOUNT } }),
      corrected: () => undefined,
    },
    signal,
  );
}
