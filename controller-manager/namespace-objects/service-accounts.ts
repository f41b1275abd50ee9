import { RESOURCE } from '../../shared/api/resource-names';
import type { ControllerContext } from '../runtime/controller';
import { keepInEveryNamespace } from './keep-in-every-namespace';
const DEFAULT_ACCOUNT = 'default';

/** Keeps the account `default` in every namespace, as which pods run by default. */
export async function runServiceAccounts(context: ControllerContext, signal: AbortSignal): Promise<void> {
  await keepInEveryNamespace(
    context,
    {
      resource: RESOURCE.serviceaccounts,
      name: DEFAULT_ACCOUNT,
      objectIn: (namespace) => ({ metadata: { namespace, name: DEFAULT_ACCOUNT } }),
      corrected: () => undefined,
    },
    signal,
  );
}
