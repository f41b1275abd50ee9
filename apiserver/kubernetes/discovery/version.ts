import { arch, platform } from 'node:process';
import { apiLevel, formatApiLevel } from '../../../shared/api-level';
import type { Build } from '../../../shared/build';
import { MEDIA_TYPE } from '../../../shared/names';
import { refuseUnrouted } from '../../engine/encoding/routing';
import { jsonAnswer } from '../../engine/handlers/answers';
import { methodNotAllowed } from '../../engine/handlers/target';
import type { PageRoutes } from '../../engine/server/page-router';
import { createPageRouter, page } from '../../engine/server/page-router';

/** The release whose API this server serves, as clients compare it. */
const [MAJOR = '', MINOR = ''] = formatApiLevel(apiLevel).split('.');

/** Creates the route of `/version`, in the shape of kube-apiserver's, by which clients recognize the API level. */
export function createVersionRouter(build: Build): PageRoutes {
  const router = createPageRouter('optional');
  router.all(
    '/version',
    page(({ exchange }) => {
      if (exchange.method !== 'GET') throw methodNotAllowed();
      refuseUnrouted(exchange, { produces: ['*/*', MEDIA_TYPE.json] });
      return jsonAnswer(200, versionDocument(build));
    }),
  );
  return { router, paths: ['/version'] };
}

function versionDocument(build: Build): object {
  return {
    major: MAJOR,
    minor: MINOR,
    gitVersion: `v${MAJOR}.${MINOR}.0+orch-${build.version}`,
    gitCommit: build.commit,
    gitTreeState: build.treeState,
    buildDate: build.date,
    goVersion: `node ${process.versions.node}`,
    compiler: 'v8',
    platform: `${platform}/${arch}`,
  };
}
