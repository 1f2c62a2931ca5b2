// zita-convolver's class as plain functions. A channel is one input, one output, one impulse response between them.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <sched.h>
#include <zita-convolver.h>

#if ZITA_CONVOLVER_MAJOR_VERSION != 4
#error "zita-convolver 4 is needed"
#endif

extern "C" {

// `late_goes_on`: goes on after five late cycles in a row, where it would stop.
void *zita_new(uint32_t channels, uint32_t length, uint32_t block, int late_goes_on)
{
    Convproc *proc = new (std::nothrow) Convproc();
    if (!proc)
        return nullptr;
    uint32_t options = Convproc::OPT_FFTW_MEASURE | Convproc::OPT_VECTOR_MODE;
    if (late_goes_on)
        options |= Convproc::OPT_LATE_CONTIN;
    proc->set_options(options);
    // Density 0: it takes one path an output, which is what there is.
    if (proc->configure(channels, channels, length, block, block, Convproc::MAXPART, 0.0f) == 0)
        return proc;
    delete proc;
    return nullptr;
}

int zita_response(void *proc, uint32_t channel, const float *taps, uint32_t length)
{
    // It only reads them.
    float *data = const_cast<float *>(taps);
    return static_cast<Convproc *>(proc)->impdata_create(channel, channel, 1, data, 0, (int32_t)length);
}

int zita_start(void *proc, int priority)
{
    return static_cast<Convproc *>(proc)->start_process(priority, priority > 0 ? SCHED_FIFO : SCHED_OTHER);
}

float *zita_input(void *proc, uint32_t channel)
{
    return static_cast<Convproc *>(proc)->inpdata(channel);
}

const float *zita_output(void *proc, uint32_t channel)
{
    return static_cast<Convproc *>(proc)->outdata(channel);
}

// Gives 0, or bits for the levels that came late.
int zita_process(void *proc, int waits)
{
    return static_cast<Convproc *>(proc)->process(waits != 0);
}

// Its levels, in its own words, into `text` of `size` bytes.
void zita_tell(void *proc, char *text, size_t size)
{
    memset(text, 0, size);
    if (FILE *file = fmemopen(text, size - 1, "w")) {
        static_cast<Convproc *>(proc)->print(file);
        fclose(file);
    }
}

// Waits for its threads.
void zita_free(void *proc)
{
    Convproc *it = static_cast<Convproc *>(proc);
    it->stop_process();
    it->cleanup();
    delete it;
}

}
