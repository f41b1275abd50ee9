import type { Target } from './target';
import { DOCUMENT_TARGETS } from './targets/documents';
import { FILE_TARGETS } from './targets/files';
import { IDENTITY_TARGETS } from './targets/identity';
import { PATCH_TARGETS } from './targets/patches';
import { QUERY_TARGETS } from './targets/queries';
import { REMOTE_TARGETS } from './targets/remote';
import { REQUEST_TARGETS } from './targets/requests';
import { VALUE_TARGETS } from './targets/values';

/** Every decoder of external input. */
export const TARGETS: readonly Target[] = [
  ...DOCUMENT_TARGETS,
  ...PATCH_TARGETS,
  ...QUERY_TARGETS,
  ...IDENTITY_TARGETS,
  ...FILE_TARGETS,
  ...VALUE_TARGETS,
  ...REMOTE_TARGETS,
  ...REQUEST_TARGETS,
];
