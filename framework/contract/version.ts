/**
 * The version of the API of plugins: of the names that plugins get. It rises when one is added, or changes so that plugins have
 * to change. A module of a plugin may export the version for which it was written, as `apiVersion`: servers with an older one
 * refuse it.
 */
export const apiVersion = 1

/** The response of `GET /version` (rules.md 8.15). */
export interface VersionInfo {
  readonly major: string
  readonly minor: string
  /** A semantic version with a leading `v`. */
  readonly gitVersion: string
  readonly gitCommit: string
  readonly gitTreeState: string
  readonly buildDate: string
  readonly goVersion: string
  readonly compiler: string
  readonly platform: string
}

/** The version of the program, its commit, and the time of the commit (RFC 3339). */
export interface Build {
  readonly version: string
  readonly commit: string
  readonly date: string
}

/** The Kubernetes minor version that this server is compatible with. */
const minor = '36'

/** The version info of a build. `gitVersion` is that of Kubernetes, which clients compare, with the build's version as suffix. */
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
