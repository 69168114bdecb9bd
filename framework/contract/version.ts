/** `GET /version` (chapter 40, rule 8.15). */
export interface VersionInfo {
  readonly major: string
  readonly minor: string
  /** A semantic version with a leading `v`: clients parse it. */
  readonly gitVersion: string
  readonly gitCommit: string
  readonly gitTreeState: string
  readonly buildDate: string
  readonly goVersion: string
  readonly compiler: string
  readonly platform: string
}

/** What this build is: its own version, the commit it was made from and when (RFC 3339). */
export interface Build {
  readonly version: string
  readonly commit: string
  readonly date: string
}

/** The Kubernetes minor version whose wire behaviour is served. */
const minor = '36'

/** Kubernetes' version first, because clients compare it with their own; ours is the build suffix. */
export const versionInfo = ({ version, commit, date }: Build): VersionInfo => ({
  major: '1',
  minor,
  gitVersion: `v1.${minor}.0+oriel-v${version}`,
  gitCommit: commit,
  gitTreeState: 'clean',
  buildDate: date,
  goVersion: process.version,
  compiler: 'node',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
})
