// A pod of the chart without a cluster: what its container is given, its arguments, its variables and the files of its volumes, is given to the image,
// or, where there is none, to the package.
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { homeOf, imageOf } from './addresses.mjs';
import { Running } from './commands.mjs';
import { runImage } from './image.mjs';
import { freePort } from './loopback.mjs';

/** Secret and ConfigMap by kind and name. */
const named = (documents, kind, name) =>
  documents.find((each) => each.kind === kind && each.metadata.name === name);

/** The folders of its volumes, by where they stand in the container. */
function foldersOf(documents, { volumeMounts }, volumes, work) {
  return volumeMounts.map(({ name, mountPath, readOnly = false }) => {
    const folder = mkdtempSync(join(work, `${name}-`));
    const { configMap } = volumes.find((volume) => volume.name === name);
    const { data = {} } = configMap === undefined ? {} : named(documents, 'ConfigMap', configMap.name);
    for (const [file, text] of Object.entries(data)) writeFileSync(join(folder, file), text);
    // The user of the image is another one.
    chmodSync(folder, readOnly ? 0o755 : 0o777);
    return { folder, mountPath, readOnly };
  });
}

/** The container that the cluster would start. */
function containerOf(documents, work) {
  const { spec } = documents.find(({ kind }) => kind === 'Deployment').spec.template;
  const [container] = spec.containers;
  const secrets = container.envFrom.map(({ secretRef }) => named(documents, 'Secret', secretRef.name));
  return {
    image: container.image,
    args: container.args,
    user: `${spec.securityContext.runAsUser}:${spec.securityContext.runAsGroup}`,
    variables: Object.fromEntries([
      ...secrets.flatMap(({ stringData }) => Object.entries(stringData)),
      ...container.env.map(({ name, value }) => [name, value]),
    ]),
    folders: foldersOf(documents, container, spec.volumes, work),
    probes: ['startupProbe', 'livenessProbe', 'readinessProbe'].map((name) => container[name].httpGet.path),
  };
}

/** The package has no volumes: its variables name their folders. */
function runPackage({ args, variables, folders }, { cwd, env, program }) {
  const own = Object.entries(variables).map(([name, value]) => [
    name,
    folders.reduce((text, { mountPath, folder }) => text.replace(mountPath, folder), value),
  ]);
  return new Running('npx', [...program, ...args], { cwd, env: { ...env, ...Object.fromEntries(own) } });
}

/** Starts the pod that the chart makes with this agent file. Resolves with its address for calls, and the secret of their tokens. */
export async function startPod({ work, env, version, image, render, checkout }, { agentFile, program }) {
  const folder = join(work, 'pod');
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  const [ws, health] = [await freePort(), await freePort()];
  const secret = randomBytes(32).toString('base64url');
  const documents = await render({
    agentFile,
    workers: 1,
    models: { fetch: false },
    secrets: { create: { SVC_SESSION_SECRET: secret } },
    listeners: { ws: { port: ws }, health: { port: health } },
  });
  const container = containerOf(documents, folder);
  if (container.image !== `${imageOf(homeOf(checkout))}:${version}`)
    throw new Error(`the chart runs ${container.image}`);
  const service =
    image === undefined
      ? runPackage(container, { cwd: folder, env, program })
      : await runImage(image, { ...container, version });
  try {
    await service.says(/"msg":"ready"/);
    for (const path of container.probes) {
      const { status } = await fetch(`http://127.0.0.1:${health}${path}`);
      if (status !== 200) throw new Error(`the probe ${path} of the pod is answered ${status}`);
    }
  } catch (error) {
    await service.stop();
    throw error;
  }
  return { service, url: `ws://127.0.0.1:${ws}`, secret };
}
