import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { version } from '../files/build.ts'
import { codeOf, StartError } from '../files/starterror.ts'
import { filesOf } from './templates.ts'

const nameRule = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** `oriel new view`: writes a directory. Throws `StartError` on an invalid name, and if the directory exists. */
export async function newView(name: string): Promise<void> {
  if (!nameRule.test(name))
    throw new StartError(
      `${JSON.stringify(name)} is not the name of a view: use lower-case letters, digits and "-", e.g. team.`,
    )
  await mkdir(name).catch(error => {
    throw new StartError(`The directory ${name} cannot be created (${codeOf(error)}): choose another name.`)
  })
  const files = Object.entries(filesOf(name, version()))
  await Promise.all(files.map(([file, text]) => writeFile(join(name, file), text)))
  process.stdout.write(
    [
      ...files.map(([file]) => `Wrote ${join(name, file)}`),
      '',
      'Next:',
      `  cd ${name} && npm install && npm test`,
      `  npx oriel start --view ./${name}.ts --watch`,
      '',
    ].join('\n'),
  )
}
