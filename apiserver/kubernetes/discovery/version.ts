import { arch, platform } from 'node:process';
import type { Build } from '../../../shared/build';

/** The API level this server implements. */
const API_LEVEL = { major: '1', minor: '21' } as const;

/** `/version`, in the shape of kube-apiserver's, so that clients can tell which API they speak to. */
export function versionDocument(build: Build): object {
  return {
    ...API_LEVEL,
    gitVersion: `v${API_LEVEL.major}.${API_LEVEL.minor}.0+orch-${build.version}`,
    gitCommit: build.commit,
    gitTreeState: build.treeState,
    buildDate: build.date,
    goVersion: `node ${process.versions.node}`,
    compiler: 'v8',
    platform: `${platform}/${arch}`,
  };
}
