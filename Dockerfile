# An exchange in a container. From a checkout:
#   docker build -t clobsim .
#   docker run --rm -p 127.0.0.1:7070:7070 -e CLOBSIM_SIM_TOKEN=local clobsim
# /sim requires the token, because the container listens on all of its addresses. Further flags follow the name of the
# image: clobsim serve --pool 8 --clock frozen. Another port is given by -e CLOBSIM_PORT=N, which the health check reads,
# too. The data directory is /data/.clobsim.

FROM node:22.20.0-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev --ignore-scripts
COPY . .
RUN npm run build

FROM node:22.20.0-alpine3.22
COPY --from=build /build/package.json /build/LICENSE /clobsim/
COPY --from=build /build/bin/clobsim.js /clobsim/bin/
COPY --from=build /build/dist /clobsim/dist
COPY --from=build /build/fixtures/worlds /clobsim/fixtures/worlds
RUN ln -s /clobsim/bin/clobsim.js /usr/local/bin/clobsim && mkdir /data && chown node /data
WORKDIR /data
USER node
# Other containers of a network know it as clobsim; Host headers with another name need CLOBSIM_ALLOW_HOST.
ENV CLOBSIM_HOST=0.0.0.0 CLOBSIM_PORT=7070 CLOBSIM_ALLOW_HOST=clobsim
EXPOSE 7070
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s \
  CMD wget -q -O /dev/null "http://127.0.0.1:$CLOBSIM_PORT/healthz"
ENTRYPOINT ["clobsim"]
CMD ["serve"]
