'use strict';

const { existsSync, readdirSync } = require('node:fs');
const path = require('node:path');

const TOOLS = path.resolve(__dirname, '..', '..', '.tools');
/** Debian packages that are unpacked without being installed: their maintainer scripts, which start daemons, never run. */
const DEBIAN = path.join(TOOLS, 'debian');
const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/**
 * Adds to PATH the system folders of Debian's daemons, which a user's PATH often lacks, and the programs unpacked in `.tools/debian`; to
 * LD_LIBRARY_PATH the libraries unpacked with them. What the system has comes first.
 */
function extendPath() {
  const programs = ['usr/bin', 'usr/sbin'].map((folder) => path.join(DEBIAN, folder));
  append('PATH', [...SYSTEM_FOLDERS, ...programs.filter(existsSync)]);
  append('LD_LIBRARY_PATH', listLibraryFolders());
}

/** Debian has its libraries in a folder of the architecture: `usr/lib/x86_64-linux-gnu`. */
function listLibraryFolders() {
  return ['lib', 'usr/lib']
    .map((folder) => path.join(DEBIAN, folder))
    .filter(existsSync)
    .flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.endsWith('-linux-gnu') || name.endsWith('-linux-gnueabihf'))
        .map((name) => path.join(folder, name)),
    );
}

function append(name, folders) {
  const present = (process.env[name] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  const all = [...present, ...folders.filter((folder) => !present.includes(folder))];
  if (all.length > 0) process.env[name] = all.join(path.delimiter);
}

module.exports = { DEBIAN, TOOLS, extendPath };
