import { execFileSync } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './oriel.ts'
import { root } from './source.ts'
import { temporaryDirectory } from './temporary.ts'

/** The commit that stands for the previous release while there is no tag. Its servers share an etcd with those of this version. */
const beforeTags = 'c9a260fe8070bf6891a6f6d8e92a6080acec99f2'

export const noPrevious =
  'no earlier version: this is no clone with the history of the repository; run "git fetch --unshallow --tags"'

/** Trims the output; undefined when git fails. */
function git(args: readonly string[]): string | undefined {
  try {
    return execFileSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return undefined
  }
}

/** The last release before this commit: its tag, or the commit that stands for it; undefined when this clone lacks it. */
export const previousVersion = (): string | undefined =>
  git(['describe', '--tags', '--abbrev=0', 'HEAD^']) ??
  git(['rev-parse', '--verify', '--quiet', `${beforeTags}^{commit}`])

/** Builds the program of an earlier commit with the packages of this one; returns its path. */
export async function buildPrevious(commit: string): Promise<string> {
  const folder = await temporaryDirectory('previous')
  const archive = join(folder, 'source.tar')
  const source = join(folder, 'source')
  await mkdir(source)
  await checked('git', ['archive', '--output', archive, commit])
  await checked('tar', ['-xf', archive, '-C', source])
  await symlink(join(root, 'node_modules'), join(source, 'node_modules'))
  const build = "import { bundle, bundleFolder } from './scripts/bundle.mjs'; await bundle(bundleFolder)"
  await checked(process.execPath, ['--input-type=module', '--eval', build], source)
  return join(source, 'dist/bundle/oriel.cjs')
}

async function checked(command: string, args: readonly string[], cwd = root): Promise<void> {
  const { code, stdout, stderr } = await run(command, args, { cwd })
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`)
}
