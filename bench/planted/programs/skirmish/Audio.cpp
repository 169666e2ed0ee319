#include "Audio.h"

namespace sk {

uint32_t Audio::mixedBlocks = 0;
uint32_t Audio::lateBlocks = 0;

Audio::Audio(const Assets& assets) : assets_(assets), block_(12) {
    starting_.reserve(64);
    voices_.reserve(64);
}

void Audio::Start() {
    if (assets_.Count() != 0)
        thread_ = std::thread([this] { Loop(); });
}

void Audio::Stop() {
    quit_.store(true);
    if (thread_.joinable())
        thread_.join();
}

void Audio::Play(const SoundRef& sound) {
    SoundRef ref = sound;
    desk_.requests.fetch_add(1, std::memory_order_relaxed);
    if (desk_.master == 0 || ref->gain == 0)
        return;
    std::lock_guard<std::mutex> hold(mutex_);
    if (starting_.size() >= desk_.maxVoices)
        return;
    starting_.push_back(Voice{std::move(ref), 0});
}

void Audio::MixBlock() {
    for (int32_t& s : block_)
        s = 0;
    for (size_t v = 0; v < voices_.size();) {
        Voice& voice = voices_[v];
        for (int32_t& s : block_) {
            if (voice.at >= voice.sound->length)
                break;
            s += voice.sound->samples[voice.at++] * voice.sound->gain >> 6;
        }
        if (voice.at >= voice.sound->length) {
            voices_[v] = std::move(voices_.back());
            voices_.pop_back();
        } else {
            ++v;
        }
    }
    int32_t peak = 0;
    for (int32_t s : block_)
        peak = s > peak ? s : peak;
    desk_.level = peak * desk_.master / 100;
    ++desk_.blocks;
}

void Audio::Loop() {
    while (!quit_.load(std::memory_order_relaxed)) {
        {
            std::lock_guard<std::mutex> hold(mutex_);
            for (Voice& v : starting_)
                if (voices_.size() < 6)
                    voices_.push_back(std::move(v));
                else
                    ++dropped_;
            starting_.clear();
        }
        MixBlock();
        ++mixedBlocks;
        std::this_thread::yield();
    }
}

}  // namespace sk
