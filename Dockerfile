# syntax=docker/dockerfile:1
# One image for every program; the command says which one it is: causeway-global (the default), causeway-zone, causeway.
#
# Node 24 is the version under long-term support with the longest time left (until April 2028); 22 is in maintenance.
# The programs are bundled: the image holds their files alone, and no package of npm (docs/guides/install.md).

FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts
COPY LICENSE README.md tsconfig.json ./
COPY scripts ./scripts
COPY migrations ./migrations
COPY deploy/systemd ./deploy/systemd
COPY libs ./libs
COPY apps ./apps
RUN npm run build && npm run package

FROM node:24-bookworm-slim
ENV NODE_ENV=production
COPY --from=build /src/dist/package /opt/causeway
ENV PATH=/opt/causeway/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
# The user `node`, by its number: Kubernetes then knows that it is not root.
USER 1000:1000
WORKDIR /opt/causeway
# REST, gRPC, diagnostics, KDS (global), DNS and xDS (zone)
EXPOSE 5681 5682 5680 5685 5653/tcp 5653/udp 5678
HEALTHCHECK --interval=5s --timeout=2s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.CAUSEWAY_DIAGNOSTICS_PORT || 5680) + '/ready').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["causeway-global"]
